#pragma once

#include <functional>

#include "sdk/autograd/context.h"

namespace frugal {

using SegmentFunction = std::function<Var(Context&, const Var&)>;
// Turns what comes in into what goes out: works on some variables, hands others on as they are,
// adds and removes some.
using TupleSegment = std::function<void(Context&, VarTuple&)>;

// Runs a segment of the network keeping only its input, and runs it again in backward (Chen et al.,
// "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174). An operation like any other,
// so segments may nest. Dropout draws the same masks, and batch norm moves its statistics once.
// Without a tape it only runs the segment.
Var Checkpoint(Context& context, const Var& input, const SegmentFunction& segment);

// Does the same for a segment that several variables go through. A variable that it hands on as it
// is stays the same variable. The segment must give the same tuple each time it runs.
void Checkpoint(Context& context, VarTuple& vars, const TupleSegment& segment);

// Runs a part of a segment that must not run again: it keeps what its backward reads and what comes
// out of it, and gives these when the segment runs for the second time. Outside of segments it only
// runs the part. It must give a new tensor for each variable that it does not hand on.
void RunOnce(Context& context, VarTuple& vars, const TupleSegment& part);

}  // namespace frugal

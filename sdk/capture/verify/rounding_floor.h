#pragma once

#include "sdk/capture/call_description.h"

namespace frugal {

// Returns the size of the largest terms that a call adds up, as far as its inputs tell: where these
// cancel, a result that is close to 0 is off by some steps of them, however small it is itself. 0
// for calls whose every result is exact but for its own rounding.
double LargestTerms(const CallDescription& call, double flops);

// Returns the share of the values of a backward of batch norm with a relu, which computes again
// where that cut, that rounding may have moved over the cut: some gradients at these are others in
// f64, and on another backend, and both are right. 0 for all other calls.
double ShareAtCut(const CallDescription& call);

}  // namespace frugal

#pragma once

#include <string_view>

#include "sdk/autograd/context.h"

namespace frugal {

// branch + around, of one shape. Keeps nothing; both get the same gradient. Where the branch can be
// made again (Var::remat), as behind a norm, so can the sum, from it and from `around`: of a
// residual stream three in four.
Var Add(Context& context, const Var& branch, const Var& around);

// factor x. Keeps nothing.
Var Scale(Context& context, const Var& x, double factor);

// Drops each element with probability `rate` and scales the rest by 1 / (1 - rate) (Srivastava et
// al., JMLR 2014); outside of training it returns x. The mask follows from (seed, step, path,
// element) and is drawn again in backward: nothing is kept.
Var Dropout(Context& context, const Var& x, double rate, std::string_view path);

// [N, a, b, ..., C] -> [N, C * a * b * ...] in the channels-first order of public checkpoints.
Var Flatten(Context& context, const Var& x);

// y.shape[i] = x.shape[axes[i]]
Var Permute(Context& context, const Var& x, const Shape& axes);

// Returns the same elements under another shape; they are made again where x is.
Var Reshape(Context& context, const Var& x, const Shape& shape);

}  // namespace frugal

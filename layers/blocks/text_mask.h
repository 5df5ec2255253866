#pragma once

#include "sdk/autograd/context.h"

// Masks [N, S] of texts of different lengths: 0 where a token is padding. In the exact type.
namespace frugal {

// Returns what attention adds to the scores of keys: [N, 1, 1, leading + S], 0 for `leading` keys
// that are always seen and for the text's, -infinity for padding.
Tensor KeyMask(Context& context, const Tensor& mask, std::int64_t leading);

// [N, 1, S]: one through the number of tokens for each that is no padding, which as a factor takes
// their mean; all 0 where there is none. In the element type of activations.
Var MeanWeights(Context& context, const Tensor& mask);

}  // namespace frugal

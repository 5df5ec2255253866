#pragma once

#include "sdk/ops/spatial/convolution.h"

namespace frugal {

// The gradient of a convolution as a layer (Zeiler et al., CVPR 2010):
// x [N, in..., Cin] -> y [N, out..., Cout], weight [Cin, Cout / groups, kernel...], bias [Cout] or
// null; out = (in - 1) stride - padding + dilation (kernel - 1) + output_padding + 1. Keeps x.
Var TransposedConvolution(Context& context, const Var& x, const Parameter& weight,
                          const Parameter* bias, const WindowOptions& options,
                          const Spatial& output_padding, std::int64_t groups);

}  // namespace frugal

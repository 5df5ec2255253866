#pragma once

#include "sdk/ops/spatial/convolution.h"

namespace frugal {

// Pools x [N, in..., C]. Padding counts as minus infinity. Keeps where each maximum lay.
Var MaxPool(Context& context, const Var& x, const WindowOptions& options);

// `count_padding`: padded zeros count in the mean, as in PyTorch's default. Keeps nothing.
Var AveragePool(Context& context, const Var& x, const WindowOptions& options,
                bool count_padding = true);

// Pools to the given output extents (right-aligned, one per spatial axis of x). Keeps nothing.
Var AdaptiveAveragePool(Context& context, const Var& x, const Spatial& output);

}  // namespace frugal

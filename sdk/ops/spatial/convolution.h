#pragma once

#include "sdk/module/parameter.h"
#include "sdk/ops/activation.h"

namespace frugal {

// The options say where a window may lie. Axes are right-aligned (see sdk/backend/geometry.h); the
// spatial rank is that of the input less two.
struct WindowOptions {
  Spatial kernel{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding_begin{0, 0, 0};
  Spatial padding_end{0, 0, 0};
  Spatial dilation{1, 1, 1};
};

// The window over x [N, spatial..., C]; refuses a kernel that does not fit into the padded input.
WindowGeometry FitWindow(Context& context, const Shape& x, const WindowOptions& options);
// [N, output..., channels] with as many spatial axes as x.
Shape WindowOutputShape(const WindowGeometry& window, const Shape& x, std::int64_t channels);
// The convolution of x by weight [Cout, Cin / groups, kernel...]; refuses other channels than Cin.
ConvGeometry FitConvolution(Context& context, const Shape& x, const Parameter& weight,
                            const WindowOptions& options, std::int64_t groups);

// y [N, out..., Cout] = f(x [N, in..., Cin] * weight [Cout, Cin / groups, kernel...] + bias).
// Keeps x where weight or bias is trained (where it can be made again, only how), and for f what f
// keeps.
Var Convolution(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
                const WindowOptions& options, std::int64_t groups,
                ActivationFunction function = {});

}  // namespace frugal

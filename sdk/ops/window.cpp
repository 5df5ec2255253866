#include "sdk/ops/check.h"
#include "sdk/ops/convolution.h"

namespace frugal {
namespace {

void CheckSpatialRank(Context& context, const Shape& x) {
  if (x.rank() >= 3 && x.rank() <= 5) return;
  ThrowShape(context, "a window slides over [N, spatial..., C] with 1 to 3 spatial axes", x,
             "give images as [N, H, W, C]");
}

// Axes that x does not have must be left alone.
void CheckUnusedAxes(Context& context, const Shape& x, const WindowOptions& options) {
  for (std::size_t axis = 0; axis < 5 - x.rank(); ++axis) {
    const bool unused = options.kernel[axis] == 1 && options.padding_begin[axis] == 0 &&
                        options.padding_end[axis] == 0;
    if (!unused) {
      ThrowShape(context, "the window slides over more spatial axes than the input has", x,
                 "give images as [N, H, W, C]");
    }
  }
}

std::int64_t OutputExtent(Context& context, const Shape& x, const WindowGeometry& g,
                          std::size_t axis) {
  const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1;
  const std::int64_t room = g.input[axis] + g.padding_begin[axis] + g.padding_end[axis];
  if (reach > room) {
    ThrowShape(context,
               "a kernel that reaches over " + std::to_string(reach) +
                   " positions fits into the padded input of " + std::to_string(room),
               x, "use a smaller kernel or stride before it, or more padding");
  }
  return (room - reach) / g.stride[axis] + 1;
}

}  // namespace

WindowGeometry FitWindow(Context& context, const Shape& x, const WindowOptions& options) {
  CheckSpatialRank(context, x);
  CheckUnusedAxes(context, x, options);
  WindowGeometry g;
  g.batch = x[0];
  g.kernel = options.kernel;
  g.stride = options.stride;
  g.padding_begin = options.padding_begin;
  g.padding_end = options.padding_end;
  g.dilation = options.dilation;
  const std::size_t spatial_rank = x.rank() - 2;
  for (std::size_t axis = 3 - spatial_rank; axis < 3; ++axis) {
    g.input[axis] = x[1 + axis - (3 - spatial_rank)];
    g.output[axis] = OutputExtent(context, x, g, axis);
  }
  return g;
}

Shape WindowOutputShape(const WindowGeometry& window, const Shape& x, std::int64_t channels) {
  Shape y = x;
  const std::size_t spatial_rank = x.rank() - 2;
  for (std::size_t i = 0; i < spatial_rank; ++i) y[1 + i] = window.output[3 - spatial_rank + i];
  y[y.rank() - 1] = channels;
  return y;
}

}  // namespace frugal

#include "layers/convolution_shared.h"

#include <array>

#include "sdk/core/error.h"
#include "sdk/ops/support/check.h"

namespace frugal {

void CheckFilters(const std::string& layer, std::int64_t channels, std::int64_t filters,
                  std::int64_t groups) {
  if (filters < 1) {
    throw ConfigError({.where = layer,
                       .required = "filters is at least 1",
                       .given = "filters = " + std::to_string(filters),
                       .advice = "say how many output channels the layer has"});
  }
  if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    throw ConfigError({.where = layer,
                       .required = "groups divide the input channels (" + std::to_string(channels) +
                                   ") and the filters (" + std::to_string(filters) + ")",
                       .given = "groups = " + std::to_string(groups),
                       .advice = "choose a common divisor"});
  }
}

Shape ConvolutionWeightShape(std::int64_t first, std::int64_t second, const WindowOptions& window,
                             std::size_t axes) {
  std::vector<std::int64_t> extents = {first, second};
  extents.insert(extents.end(), window.kernel.end() - static_cast<std::ptrdiff_t>(axes),
                 window.kernel.end());
  return Shape(extents);
}

void CheckSpatialAxes(Context& context, const Var& input, const std::string& family,
                      std::size_t axes) {
  constexpr std::array<const char*, 4> kForms = {"", "[N, L, C]", "[N, H, W, C]",
                                                 "[N, D, H, W, C]"};
  const std::size_t rank = input.shape().rank();
  if (rank == axes + 2) return;
  const bool has_layer = rank >= 3 && rank <= 5;
  ThrowShape(
      context, family + std::to_string(axes) + "d takes " + kForms[axes], input.shape(),
      has_layer
          ? "use " + family + std::to_string(rank - 2) + "d for such an input"
          : std::string("put it where the input still has its positions, e.g. before flatten"));
}

std::string DescribeGroups(std::int64_t groups) {
  return groups > 1 ? ", " + std::to_string(groups) + " groups" : "";
}

}  // namespace frugal

#include "sdk/backend/onednn/conv/conv_windows.h"

#include <optional>

namespace frugal::onednn {
namespace {

constexpr Spatial kOnes{1, 1, 1};

// Returns the position of the output whose window has this place over the position `at` of the
// input: there is none between the windows' steps.
std::optional<Spatial> OutputAt(const WindowGeometry& w, const Spatial& place, const Spatial& at) {
  Spatial output{};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t steps = at[a] + w.padding_begin[a] - place[a] * w.dilation[a];
    if (steps % w.stride[a] != 0) return std::nullopt;
    output[a] = steps / w.stride[a];
  }
  return output;
}

WindowPart InputPart(const ConvGeometry& g, const Spatial& first) {
  const WindowGeometry& w = g.window;
  Spatial positions{};
  for (std::size_t a = 0; a < 3; ++a) {
    positions[a] = w.input[a] <= first[a] ? 0 : (w.input[a] - first[a] - 1) / w.stride[a] + 1;
  }
  WindowPart part{{positions, w.stride, w.input, g.input_channels},
                  {positions, kOnes, w.output, g.output_channels},
                  first,
                  {}};
  for (std::int64_t i = 0; i < w.KernelSize(); ++i) {
    if (const auto output = OutputAt(w, PlaceAt(w, i), first)) part.places.push_back({i, *output});
  }
  return part;
}

}  // namespace

std::vector<WindowPart> OutputParts(const ConvGeometry& g) {
  const WindowGeometry& w = g.window;
  WindowPart part{{w.output, kOnes, w.output, g.output_channels},
                  {w.output, w.stride, w.input, g.input_channels},
                  {},
                  {}};
  for (std::int64_t i = 0; i < w.KernelSize(); ++i) {
    part.places.push_back({i, OffsetOfPlace(w, i)});
  }
  return {part};
}

std::vector<WindowPart> InputParts(const ConvGeometry& g) {
  const Spatial& stride = g.window.stride;
  std::vector<WindowPart> parts;
  for (std::int64_t i = 0; i < stride[0]; ++i) {
    for (std::int64_t j = 0; j < stride[1]; ++j) {
      for (std::int64_t k = 0; k < stride[2]; ++k) parts.push_back(InputPart(g, {i, j, k}));
    }
  }
  return parts;
}

}  // namespace frugal::onednn

#pragma once

#include <vector>

#include "sdk/core/shape.h"

// PyTorch's images are [N, C, spatial...], ours [N, spatial..., C].
namespace frugal::oracles {

enum class AxisOrder : std::uint8_t { kAsStored, kChannelsFirst };

struct Numbers {
  Shape shape;
  std::vector<double> values;
};

// [N, C, spatial...] -> [N, spatial..., C], and back.
Numbers ToChannelsLast(const Numbers& numbers);
Numbers ToChannelsFirst(const Numbers& numbers);

}  // namespace frugal::oracles

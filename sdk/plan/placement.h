#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace frugal {

// The layers [begin, end) that a device holds. A layer here is what may not be cut: a block.
struct LayerRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const LayerRange&) const = default;
};

// One range for each device, in order; they follow each other, and none is empty.
using Placement = std::vector<LayerRange>;

// Gives ceil(layers / devices) layers to each device until they are used up: 12 on 4 are 3, 3, 3,
// 3; 10 on 3 are 4, 4, 2. Throws ConfigError where a device would get none (4 on 3 are 2, 2, 0).
Placement EvenSplit(std::int64_t layers, std::int64_t devices);

// Returns the bytes that a device needs for a range of layers. They must not fall where a range
// grows.
using RangeBytes = std::function<std::int64_t(std::int64_t device, LayerRange layers)>;

// Splits so that the device that needs most needs least: exact over all splits into consecutive
// ranges, by dynamic programming with O(devices x layers x log(layers)) calls of `bytes`. Throws
// ConfigError where there are fewer layers than devices.
Placement MemoryBalanced(std::int64_t layers, std::int64_t devices, const RangeBytes& bytes);

// Places each layer on the device that is stated for it. Throws ConfigError where there is not one
// statement for each layer, or the devices are not 0, 1, ... in this order without a gap.
Placement CustomPlacement(std::int64_t layers, std::int64_t devices,
                          std::span<const std::int64_t> device_of_layer);

}  // namespace frugal

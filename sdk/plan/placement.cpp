#include "sdk/plan/placement.h"

#include <algorithm>
#include <limits>
#include <string>

#include "sdk/core/error.h"

namespace frugal {
namespace {

std::string LayersOnDevices(std::int64_t layers, std::int64_t devices) {
  return std::to_string(layers) + (layers == 1 ? " layer" : " layers") +
         " that may be split over " + std::to_string(devices) + " devices";
}

void CheckEnough(std::int64_t layers, std::int64_t devices) {
  if (devices < 1) {
    throw ConfigError({.where = "memory.num_devices",
                       .required = "there is a device",
                       .given = std::to_string(devices),
                       .advice = "use 1 or more"});
  }
  if (layers >= devices) return;
  throw ConfigError({.where = "memory.num_devices",
                     .required = "every device holds a layer",
                     .given = "there are " + LayersOnDevices(layers, devices),
                     .advice = "use fewer devices"});
}

// The split of the first layers over the first devices, as far as its last cut tells.
struct Cut {
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin = 0;  // of the last device's range
};

// Finds the best last cut for a device's range that ends at `end`: what the devices before it need
// grows with the cut, and what it needs itself falls, so that the best lies where they cross.
Cut BestCut(const std::vector<Cut>& before, std::int64_t device, std::int64_t end,
            const RangeBytes& bytes) {
  const auto need = [&](std::int64_t begin) { return bytes(device, {begin, end}); };
  const auto most = [&](std::int64_t begin) {
    return std::max(before[static_cast<std::size_t>(begin)].most_bytes, need(begin));
  };
  std::int64_t low = device, high = end - 1;  // every device before holds at least one layer
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (before[static_cast<std::size_t>(middle)].most_bytes >= need(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  Cut best{.most_bytes = most(low), .begin = low};
  if (low > device && most(low - 1) <= best.most_bytes) {
    best = {.most_bytes = most(low - 1), .begin = low - 1};
  }
  return best;
}

}  // namespace

Placement EvenSplit(std::int64_t layers, std::int64_t devices) {
  CheckEnough(layers, devices);
  const std::int64_t each = (layers + devices - 1) / devices;
  Placement placement;
  for (std::int64_t begin = 0; begin < layers; begin += each) {
    placement.push_back({begin, std::min(layers, begin + each)});
  }
  if (std::ssize(placement) == devices) return placement;
  throw ConfigError({.where = "memory.sharding_strategy",
                     .required = "every device holds a layer",
                     .given = "EvenSplit puts " + std::to_string(each) + " on each of the first " +
                              std::to_string(placement.size()) + ", and there are " +
                              LayersOnDevices(layers, devices),
                     .advice = "use MemoryBalanced, or fewer devices"});
}

Placement MemoryBalanced(std::int64_t layers, std::int64_t devices, const RangeBytes& bytes) {
  CheckEnough(layers, devices);
  const auto count = static_cast<std::size_t>(layers) + 1;
  std::vector<std::vector<Cut>> cuts;  // by device and end of its range
  for (std::int64_t device = 0; device < devices; ++device) {
    std::vector<Cut> row(count);
    for (std::int64_t end = device + 1; end <= layers; ++end) {
      Cut& cut = row[static_cast<std::size_t>(end)];
      cut = device == 0 ? Cut{bytes(0, {0, end}), 0} : BestCut(cuts.back(), device, end, bytes);
    }
    cuts.push_back(std::move(row));
  }
  Placement placement(static_cast<std::size_t>(devices));
  std::int64_t end = layers;
  for (std::int64_t device = devices - 1; device >= 0; --device) {
    const auto number = static_cast<std::size_t>(device);
    const std::int64_t begin = cuts[number][static_cast<std::size_t>(end)].begin;
    placement[number] = {begin, end};
    end = begin;
  }
  return placement;
}

Placement CustomPlacement(std::int64_t layers, std::int64_t devices,
                          std::span<const std::int64_t> device_of_layer) {
  CheckEnough(layers, devices);
  const std::string field = "memory.custom_device_assignments";
  if (std::ssize(device_of_layer) != layers) {
    throw ConfigError({.where = field,
                       .required = "a device is named for each of the " + std::to_string(layers) +
                                   " layers that may be split",
                       .given = std::to_string(device_of_layer.size()) + " are named",
                       .advice = {}});
  }
  Placement placement;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t device = device_of_layer[static_cast<std::size_t>(layer)];
    if (device == std::ssize(placement)) placement.push_back({layer, layer});
    if (device != std::ssize(placement) - 1) {
      throw ConfigError({.where = field,
                         .required = "consecutive layers lie on one device or on the next, from "
                                     "device 0 on",
                         .given = "layer " + std::to_string(layer) + " is on device " +
                                  std::to_string(device) + " behind one on device " +
                                  std::to_string(std::ssize(placement) - 1),
                         .advice = {}});
    }
    placement.back().end = layer + 1;
  }
  if (std::ssize(placement) == devices) return placement;
  throw ConfigError(
      {.where = field,
       .required = "every one of the " + std::to_string(devices) + " devices holds a layer",
       .given = "the last that is named is device " + std::to_string(std::ssize(placement) - 1),
       .advice = {}});
}

}  // namespace frugal

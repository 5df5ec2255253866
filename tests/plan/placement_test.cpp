// Layers on devices: even, balanced as no other split is, or as stated.
#include "sdk/plan/placement.h"

#include <numeric>
#include <random>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

TEST_CASE("an even split gives each device as many layers, and the last the rest", "[placement]") {
  CHECK(EvenSplit(12, 4) == Placement{{0, 3}, {3, 6}, {6, 9}, {9, 12}});
  CHECK(EvenSplit(10, 3) == Placement{{0, 4}, {4, 8}, {8, 10}});
  CHECK(EvenSplit(1, 1) == Placement{{0, 1}});
  CHECK_THROWS_WITH(EvenSplit(4, 3),
                    "[memory.sharding_strategy] every device holds a layer; EvenSplit puts 2 on "
                    "each of the first 2, and there are 4 layers that may be split over 3 devices; "
                    "use MemoryBalanced, or fewer devices");
  CHECK_THROWS_WITH(
      EvenSplit(1, 2),
      "[memory.num_devices] every device holds a layer; there are 1 layer that may be "
      "split over 2 devices; use fewer devices");
}

// Weights of each layer, which every device holds once, and activations, of which a device holds as
// many as there are micro-batches in flight on it.
struct RandomLayers {
  std::vector<std::int64_t> weights, activations;
  std::int64_t devices = 1;

  std::int64_t Bytes(std::int64_t device, LayerRange range) const {
    std::int64_t bytes = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const auto layer = static_cast<std::size_t>(i);
      bytes += weights[layer] + (devices - device) * activations[layer];
    }
    return bytes;
  }
  std::int64_t Most(const Placement& placement) const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < placement.size(); ++i) {
      most = std::max(most, Bytes(static_cast<std::int64_t>(i), placement[i]));
    }
    return most;
  }
  // The least of all splits, tried one by one.
  std::int64_t Least(std::int64_t device, std::int64_t begin) const {
    const std::int64_t layers = std::ssize(weights);
    if (device + 1 == devices) return Bytes(device, {begin, layers});
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t end = begin + 1; end + (devices - device - 1) <= layers; ++end) {
      least = std::min(least, std::max(Bytes(device, {begin, end}), Least(device + 1, end)));
    }
    return least;
  }
};

TEST_CASE("no split into consecutive ranges needs less than the balanced one", "[placement]") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    RandomLayers layers;
    const auto count = static_cast<std::size_t>(1 + random() % 9);
    const std::uint64_t spread = round % 3 == 0 ? 3 : 1000;  // with ties, and without
    for (std::size_t i = 0; i < count; ++i) {
      layers.weights.push_back(static_cast<std::int64_t>(random() % spread));
      layers.activations.push_back(static_cast<std::int64_t>(random() % spread));
    }
    layers.devices = 1 + static_cast<std::int64_t>(random() % count);
    const Placement placement = MemoryBalanced(
        static_cast<std::int64_t>(count), layers.devices,
        [&](std::int64_t device, LayerRange range) { return layers.Bytes(device, range); });
    INFO("round " << round << ", " << count << " layers on " << layers.devices);
    REQUIRE(std::ssize(placement) == layers.devices);
    std::int64_t next = 0;
    for (const LayerRange& range : placement) {
      CHECK(range.begin == next);
      CHECK(range.end > range.begin);
      next = range.end;
    }
    CHECK(next == static_cast<std::int64_t>(count));
    CHECK(layers.Most(placement) == layers.Least(0, 0));
  }
}

TEST_CASE("a balanced split asks for few ranges", "[placement]") {
  std::int64_t calls = 0;
  const Placement placement = MemoryBalanced(1000, 64, [&](std::int64_t, LayerRange range) {
    ++calls;
    return range.end - range.begin;
  });
  CHECK(placement.size() == 64);
  CHECK(calls < std::int64_t{64} * 1000 * 15);
}

TEST_CASE("a stated placement is contiguous and complete, or refused", "[placement]") {
  const auto place = [](std::int64_t devices, const std::vector<std::int64_t>& stated) {
    return CustomPlacement(4, devices, stated);
  };
  CHECK(place(2, {0, 0, 0, 1}) == Placement{{0, 3}, {3, 4}});
  CHECK(place(1, {0, 0, 0, 0}) == Placement{{0, 4}});
  const std::string where = "[memory.custom_device_assignments] ";
  CHECK_THROWS_WITH(place(2, {0, 1, 0, 1}),
                    where +
                        "consecutive layers lie on one device or on the next, from device 0 on; "
                        "layer 2 is on device 0 behind one on device 1");
  CHECK_THROWS_WITH(place(3, {0, 0, 2, 2}),
                    where +
                        "consecutive layers lie on one device or on the next, from device 0 on; "
                        "layer 2 is on device 2 behind one on device 0");
  CHECK_THROWS_AS(place(2, {1, 1, 1, 1}), ConfigError);
  CHECK_THROWS_WITH(place(3, {0, 0, 1, 1}),
                    where +
                        "every one of the 3 devices holds a layer; the last that is named is "
                        "device 1");
  CHECK_THROWS_WITH(place(0, {0, 0, 0, 0}),
                    "[memory.num_devices] there is a device; 0; use 1 or more");
  CHECK_THROWS_AS(EvenSplit(4, 0), ConfigError);
  CHECK_THROWS_WITH(place(2, {0, 1}),
                    where +
                        "a device is named for each of the 4 layers that may be split; 2 are "
                        "named");
}

}  // namespace
}  // namespace frugal::testing

// EstimateMemory says what a pass then takes, to the byte.
#include <limits>

#include "sdk/core/error.h"
#include "tests/builders/manager_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A second pass over the layers, as the ledger saw it.
PassBytes Measure(TrainingMemoryManager& manager, const LayerPointers& layers,
                  const Tensor& input) {
  const auto pass = [&](PassBytes* bytes, const Tensor& seed) {
    const auto live = [&] { return manager.GetDeviceMemoryUsage()[0].live_bytes; };
    const std::int64_t before = live();
    auto [output, state] = manager.ForwardWithCheckpointing(layers, input);
    if (bytes != nullptr) bytes->kept = live() - before;
    const Tensor gradient = seed ? seed : GradientLike(output);
    manager.BackwardWithCheckpointing(gradient, state);
    if (bytes != nullptr) {
      bytes->peak = manager.GetDeviceMemoryUsage()[0].peak_bytes - before;
    }
    return gradient;
  };
  const Tensor seed = pass(nullptr, {});
  PassBytes bytes;
  pass(&bytes, seed);
  return bytes;
}

void CheckEstimate(const EnvironmentKind& kind, std::int64_t every, std::size_t count) {
  INFO(kind << ", " << count << " layers, every " << every);
  const OwnedLayers layers = MakeLayers(count);
  const LayerPointers list = PointersTo(layers);
  const Tensor input = RandomTensor({50, 6}, 3, kind.dtype);
  TrainingMemoryConfig config = Every(every);
  TrainingMemoryManager on(config, OptionsOf(kind));
  const MemoryEstimate estimate = on.EstimateMemory(list, input);
  CHECK(on.GetDeviceMemoryUsage()[0].peak_bytes == 0);  // nothing was made for it
  CHECK(Measure(on, list, input) == estimate.with_checkpointing);
  const BytesByTag live = on.GetDeviceMemoryUsage()[0].live;
  CHECK(live[MemoryTag::kParameter] == estimate.parameter_bytes);
  CHECK(live[MemoryTag::kGradient] == estimate.gradient_bytes);

  config.use_gradient_checkpointing = false;
  TrainingMemoryManager off(config, OptionsOf(kind));
  CHECK(Measure(off, list, input) == estimate.without_checkpointing);
  const MemoryEstimate again = off.EstimateMemory(list, input);
  CHECK(again.without_checkpointing == estimate.without_checkpointing);
  CHECK(again.with_checkpointing == estimate.with_checkpointing);
}

TEST_CASE("estimates of passes are what passes take", "[manager][memory]") {
  std::vector<EnvironmentKind> kinds = AllEnvironments();
  kinds.push_back(kOneDnnBf16);
  for (const EnvironmentKind& kind : kinds) {
    for (const std::int64_t every : {1, 2, 3, 100}) CheckEstimate(kind, every, 7);
    for (const std::size_t count : {0u, 1u}) CheckEstimate(kind, 2, count);
  }
}

TEST_CASE("an estimate of a deep list shows what checkpointing saves", "[manager][memory]") {
  std::vector<CountingLayer> layers(16);
  LayerPointers list;
  for (CountingLayer& layer : layers) list.push_back(&layer);
  TrainingMemoryManager manager(Every(4), OptionsOf(kReferenceF64));
  const MemoryEstimate deep = manager.EstimateMemory(list, RandomTensor({64, 32}, 1, DType::kF64));
  CHECK(deep.SavedBytes() == deep.without_checkpointing.peak - deep.with_checkpointing.peak);
  CHECK(deep.SavedFraction() > 0.4);
  CHECK(deep.SavedFraction() < 1);
  list.resize(1);
  const MemoryEstimate flat = manager.EstimateMemory(list, RandomTensor({64, 32}, 1, DType::kF64));
  CHECK(flat.SavedBytes() == 0);
  CHECK(flat.SavedFraction() == 0);
}

TEST_CASE("layers of a hundred gigabytes are estimated without a byte", "[manager][memory]") {
  Dense wide(160'000, {.units = 160'000});
  TrainingMemoryManager manager(Every(1));
  const MemoryEstimate estimate = manager.EstimateMemory({&wide}, manager.RentTensor({1, 160'000}));
  CHECK(estimate.parameter_bytes >= 4LL * 160'000 * 160'000);
  CHECK(estimate.gradient_bytes >= 4LL * 160'000 * 160'000);
  CHECK(manager.GetDeviceMemoryUsage()[0].peak_bytes < 1'000'000);
}

TEST_CASE("the formula: n A, and (ceil(n / N) + min(N, n)) A", "[manager][memory]") {
  const auto estimate = [](std::int64_t every, std::int64_t layers, std::int64_t bytes) {
    const TrainingMemoryManager manager(Every(every));
    return manager.EstimateMemory(layers, bytes);
  };
  const ActivationEstimate twelve = estimate(4, 12, 100);
  CHECK(twelve.without_checkpointing == 1200);
  CHECK(twelve.with_checkpointing == 700);
  CHECK(twelve.SavedBytes() == 500);
  CHECK(twelve.SavedFraction() == Approx(500.0 / 1200));
  CHECK(estimate(4, 13, 100).with_checkpointing == 800);  // a last segment of one layer
  CHECK(estimate(5, 3, 10).with_checkpointing == 40);     // N beyond n: one segment
  for (const std::int64_t every : {1, 100}) {             // nothing saved is 0, never less
    const ActivationEstimate none = estimate(every, 3, 10);
    CHECK(none.with_checkpointing == 40);
    CHECK(none.SavedBytes() == 0);
    CHECK(none.SavedFraction() == 0);
  }
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{100}, kMost}) {
    const ActivationEstimate zero = estimate(2, 0, bytes);
    CHECK(zero.without_checkpointing == 0);
    CHECK(zero.with_checkpointing == 0);
    CHECK(zero.SavedFraction() == 0);
  }
  CHECK(estimate(2, kMost, 0).with_checkpointing == 0);
  CHECK(estimate(2, kMost, 1).with_checkpointing == kMost / 2 + 1 + 2);
  CHECK(estimate(2, 1, kMost / 2).with_checkpointing == kMost / 2 * 2);
}

TEST_CASE("the formula refuses what is negative or too large", "[manager][memory]") {
  const TrainingMemoryManager manager(Every(1));
  CHECK_THROWS_WITH(manager.EstimateMemory(-1, 10),
                    "[EstimateMemory] the number of layers is not negative; -1 was given; count "
                    "from 0");
  CHECK_THROWS_WITH(manager.EstimateMemory(3, -10),
                    Catch::Contains("the size of an activation is not negative; -10 was given"));
  CHECK_THROWS_AS(manager.EstimateMemory(kMost / 2, 3), UsageError);
  CHECK_THROWS_WITH(manager.EstimateMemory(kMost, 1), Catch::Contains("fits 64 bits"));
  CHECK_THROWS_AS(manager.EstimateMemory(kMost, kMost), UsageError);
}

}  // namespace
}  // namespace frugal::testing

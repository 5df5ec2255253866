// The fields of the configuration change a manager's passes: what runs again, where memory comes
// from, and how much of it there is.
#include "builders/memory_report/memory_report.h"
#include "layers/residual.h"
#include "tests/builders/manager_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

// Layers of a manager that recomputes every N, after one pass.
std::vector<std::pair<int, int>> CountRuns(std::int64_t every, std::size_t count) {
  std::vector<CountingLayer> layers(count);
  LayerPointers list;
  for (CountingLayer& layer : layers) list.push_back(&layer);
  TrainingMemoryManager manager(Every(every), OptionsOf(kReferenceF64));
  auto [output, state] = manager.ForwardWithCheckpointing(list, InputFor(kReferenceF64));
  for (const CountingLayer& layer : layers) CHECK(layer.runs == 1);
  manager.BackwardWithCheckpointing(GradientLike(output), state);
  std::vector<std::pair<int, int>> runs;
  for (const CountingLayer& layer : layers) runs.emplace_back(layer.runs, layer.recomputed);
  return runs;
}

TEST_CASE("every layer runs once more for backward where checkpointing is on", "[manager]") {
  for (const std::size_t count : {1u, 5u, 7u}) {
    for (const std::int64_t every : {1, 2, 3, 100}) {
      CHECK(CountRuns(every, count) == std::vector(count, std::pair(2, 1)));
    }
    CHECK(CountRuns(0, count) == std::vector(count, std::pair(1, 0)));
  }
}

// Returns what a pass over 16 layers of one size takes at most, in units of that size.
double PeakUnits(std::int64_t every) {
  constexpr std::int64_t kUnit = 64 * 32 * 8;
  std::vector<CountingLayer> layers(16);
  LayerPointers list;
  for (CountingLayer& layer : layers) list.push_back(&layer);
  TrainingMemoryManager manager(Every(every), OptionsOf(kReferenceF64));
  const Tensor input = RandomTensor({64, 32}, 1, DType::kF64);
  auto [output, state] = manager.ForwardWithCheckpointing(list, input);
  const Tensor seed = GradientLike(output);
  output = Tensor();
  manager.BackwardWithCheckpointing(seed, state);
  CHECK(manager.GetDeviceMemoryUsage()[0].live_bytes == 0);
  return static_cast<double>(manager.GetDeviceMemoryUsage()[0].peak_bytes) / kUnit;
}

TEST_CASE("checkpointing lowers the peak", "[manager]") {
  const double plain = PeakUnits(0);
  CHECK(plain >= 16);
  for (const std::int64_t every : {2, 4, 8}) {
    INFO("every " << every);
    CHECK(PeakUnits(every) <= 16.0 / static_cast<double>(every) + static_cast<double>(every) + 2);
  }
  CHECK(PeakUnits(4) <= 0.6 * plain);
}

TEST_CASE("runs, residual blocks that run once and heavy layers keep what they should",
          "[manager]") {
  const auto runs_of_last = [](TrainingMemoryConfig config) {
    auto body = std::make_unique<Sequential>();
    body->Append("0", std::make_unique<CountingLayer>());
    Residual block(std::move(body), nullptr, {});
    CountingLayer before;
    CountingLayer after;
    TrainingMemoryManager manager(config, OptionsOf(kReferenceF64));
    const Tensor input = RandomTensor({64, 32}, 1, DType::kF64);
    auto [output, state] = manager.ForwardWithCheckpointing({&before, &block, &after}, input);
    output = Tensor();
    return manager.GetDeviceMemoryUsage()[0].live_bytes / (64 * 32 * 8);
  };
  CHECK(runs_of_last(Every(1)) == 2);  // the inputs of the block and of what follows
  TrainingMemoryConfig config = Every(3);
  CHECK(runs_of_last(config) == 0);  // one run, whose input is the caller's
  config.checkpoint_residual_blocks = false;
  CHECK(runs_of_last(config) > 0);  // what the block needs, and what comes out of it
  config = Every(3);
  config.high_activation_memory_threshold_bytes = 64 * 32 * 8 - 1;
  CHECK(runs_of_last(config) == 2);
}

TEST_CASE("the pool serves later requests, and its statistics show it", "[manager]") {
  const OwnedLayers layers = MakeLayers();
  TrainingMemoryManager manager(Every(2), OptionsOf(kReferenceF32));
  REQUIRE(manager.PoolingEnabled());
  const auto pass = [&] {
    auto [output, state] =
        manager.ForwardWithCheckpointing(PointersTo(layers), InputFor(kReferenceF32));
    manager.BackwardWithCheckpointing(GradientLike(output), state);
    output = Tensor();
    return *manager.GetPoolStats();
  };
  const PoolStatistics first = pass();
  const PoolStatistics second = pass();
  CHECK(first.misses > 0);
  CHECK(second.misses == first.misses);
  CHECK(second.hits > first.hits);
  CHECK(second.live_bytes == 0);

  Tensor rented = manager.RentTensor({100, 100});
  void* place = rented.raw();
  manager.ReturnTensor(rented);
  CHECK_FALSE(rented);
  const std::int64_t hits = manager.GetPoolStats()->hits;
  rented = manager.RentTensor({10000});
  CHECK(rented.raw() == place);
  CHECK(manager.GetPoolStats()->hits == hits + 1);
  CHECK(manager.GetDeviceMemoryUsage()[0].live[MemoryTag::kActivation] == 40000);
  rented = Tensor();  // gives itself back
  CHECK(manager.GetPoolStats()->live_bytes == 0);
}

TEST_CASE("without pooling there are no statistics, and the same numbers", "[manager]") {
  TrainingMemoryConfig config = Every(2);
  config.use_activation_pooling = false;
  TrainingMemoryManager manager(config, OptionsOf(kReferenceF64));
  CHECK_FALSE(manager.PoolingEnabled());
  CHECK_FALSE(manager.GetPoolStats());
  CHECK(manager.CheckpointingEnabled());
  CHECK_FALSE(manager.ShardingEnabled());
  CHECK(manager.Config() == config);
  Tensor rented = manager.RentTensor({3, 4}, DType::kI64);
  CHECK(rented.dtype() == DType::kI64);
  manager.ReturnTensor(rented);
  CHECK(manager.GetDeviceMemoryUsage()[0].live_bytes == 0);
}

TEST_CASE("what is kept between steps stays within max_pool_memory_mb", "[manager]") {
  TrainingMemoryConfig config;
  config.max_pool_memory_mb = 1;
  TrainingMemoryManager manager(config);
  std::vector<Tensor> rented;
  for (int i = 0; i < 5; ++i) rented.push_back(manager.RentTensor({100'000}));  // 0.38 MB
  rented.clear();
  CHECK(manager.GetPoolStats()->idle_bytes > 0);
  CHECK(manager.GetPoolStats()->idle_bytes <= std::int64_t{1} << 20);
  CHECK(manager.GetDeviceMemoryUsage()[0].idle_pool_bytes == manager.GetPoolStats()->idle_bytes);
}

TEST_CASE("parameters are made at once, when first touched, or as zeros", "[manager]") {
  const auto live = [](InitializationStrategy strategy) {
    TrainingMemoryConfig config;
    config.default_initialization_strategy = strategy;
    TrainingMemoryManager manager(config);
    Dense dense(6, {.units = 8});
    manager.Adopt({&dense});
    const std::int64_t bytes = manager.GetDeviceMemoryUsage()[0].live[MemoryTag::kParameter];
    const double sum = [&] {
      double absolute = 0;
      for (const double v : Values(manager.context().parameters().Value(*dense.Parameters()[0]))) {
        absolute += std::abs(v);
      }
      return absolute;
    }();
    return std::pair(bytes, sum > 0);
  };
  CHECK(live(InitializationStrategy::kEager) == std::pair<std::int64_t, bool>(192 + 64, true));
  CHECK(live(InitializationStrategy::kLazy) == std::pair<std::int64_t, bool>(0, true));
  CHECK(live(InitializationStrategy::kZero) == std::pair<std::int64_t, bool>(192 + 64, false));
}

TEST_CASE("a manager tells who holds its memory, now and at the recorded peak", "[manager]") {
  TrainingMemoryManager manager(Every(2), OptionsOf(kReferenceF64));
  CHECK_FALSE(manager.MemoryReport().devices.front().measured);
  const OwnedLayers layers = MakeLayers(3);
  manager.RecordMemory();
  auto [output, state] =
      manager.ForwardWithCheckpointing(PointersTo(layers), InputFor(kReferenceF64));
  const Tensor kept = CopyOf(output);
  manager.BackwardWithCheckpointing(GradientLike(kept), state);
  const MemoryReport report = manager.MemoryReport();
  REQUIRE(report.devices.size() == 1);
  const DeviceReport& device = report.devices.front();
  REQUIRE(device.now);
  CHECK(device.now->allocator.peak_bytes_in_use == manager.GetDeviceMemoryUsage()[0].peak_bytes);
  CHECK(device.now->allocator.bytes_in_use == manager.GetDeviceMemoryUsage()[0].live_bytes);
  CHECK(device.now->allocator.pool_bytes >= 0);
  std::int64_t live = 0;
  for (const Holder& holder : device.now->live) live += holder.bytes;
  CHECK(live == device.now->allocator.bytes_in_use);
  REQUIRE(device.measured);
  CHECK(device.measured->memory.peak_bytes == device.now->allocator.peak_bytes_in_use);
  CHECK_FALSE(device.measured->memory.operations.empty());
  manager.StopRecording();
  CHECK_FALSE(manager.MemoryReport().devices.front().measured);
}

}  // namespace
}  // namespace frugal::testing

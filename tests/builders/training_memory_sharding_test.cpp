// The manager's calls for several devices: to the bit what one device computes, each device with
// memory of its own.
#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/optim/optimizer.h"
#include "tests/builders/manager_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

TrainingMemoryConfig On(std::int64_t devices, ShardingStrategy strategy, bool checkpointed) {
  TrainingMemoryConfig config = Every(checkpointed ? 2 : 0);
  config.num_devices = devices;
  config.sharding_strategy = strategy;
  if (strategy == ShardingStrategy::kCustom) {
    config.custom_device_assignments = std::vector<std::int64_t>(7, devices - 1);
    for (std::int64_t i = 0; i + 1 < devices; ++i) {
      (*config.custom_device_assignments)[static_cast<std::size_t>(i)] = i;
    }
  }
  return config;
}

std::vector<double> Numbers(const Tensor& tensor) {
  if (!tensor) return {};
  if (tensor.dtype() == DType::kF64) {
    return {tensor.values<double>().begin(), tensor.values<double>().end()};
  }
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

// Holds what some steps leave: outputs, gradients of the input, and values.
struct Steps {
  std::vector<std::vector<double>> numbers;
  void Add(const Tensor& tensor) { numbers.push_back(Numbers(tensor)); }
  bool operator==(const Steps&) const = default;
};

constexpr double kRate = 0.05;
constexpr EnvironmentKind kKind = {BackendKind::kOneDnn, DType::kF32};

Steps RunPlain() {
  OwnedLayers owned = MakeLayers();
  const LayerPointers layers = PointersTo(owned);
  TrainingMemoryManager manager(Every(0), OptionsOf(kKind));
  OptimizerOptions options;
  options.kind = OptimizerKind::kSgd;
  options.lr = kRate;
  const Optimizer optimizer(options, {}, 0, 1);
  Steps steps;
  for (int step = 0; step < 3; ++step) {
    manager.context().set_step(step);
    auto [output, state] = manager.ForwardWithCheckpointing(layers, InputFor(kKind));
    steps.Add(output);
    steps.Add(manager.BackwardWithCheckpointing(output, state));
    optimizer.Step(manager.context(), ParametersOf(layers));
    manager.context().parameters().ClearGradients();
  }
  auto [output, state] = manager.ForwardWithCheckpointing(layers, InputFor(kKind));
  steps.Add(output);
  return steps;
}

Steps RunSharded(const TrainingMemoryConfig& config) {
  OwnedLayers owned = MakeLayers();
  TrainingMemoryManager manager(config, PointersTo(owned), OptionsOf(kKind));
  Steps steps;
  for (int step = 0; step < 3; ++step) {
    manager.context().set_step(step);
    const Tensor output = manager.ShardedForward(InputFor(kKind));
    steps.Add(output);
    steps.Add(manager.ShardedBackward(output));
    manager.ShardedUpdateParameters(kRate);
  }
  steps.Add(manager.ShardedForward(InputFor(kKind)));
  return steps;
}

TEST_CASE("sharded calls come to the bits of one device", "[manager][sharding]") {
  const Steps plain = RunPlain();
  CHECK(plain.numbers[0] != plain.numbers[2]);
  for (const std::int64_t devices : {2, 3, 4}) {
    for (const ShardingStrategy strategy :
         {ShardingStrategy::kEvenSplit, ShardingStrategy::kMemoryBalanced,
          ShardingStrategy::kCustom}) {
      for (const bool checkpointed : {false, true}) {
        INFO(devices << " devices, strategy " << static_cast<int>(strategy) << ", checkpointed "
                     << checkpointed);
        CHECK(RunSharded(On(devices, strategy, checkpointed)) == plain);
      }
    }
  }
}

TEST_CASE("each device holds its own layers' values and gradients", "[manager][sharding]") {
  OwnedLayers owned = MakeLayers();
  const LayerPointers layers = PointersTo(owned);
  TrainingMemoryManager manager(On(3, ShardingStrategy::kCustom, false), layers, OptionsOf(kKind));
  CHECK(manager.GetDeviceMemoryUsage().size() == 1);  // nothing is placed yet
  const Tensor output = manager.ShardedForward(InputFor(kKind));
  manager.ShardedBackward(output);
  const std::vector<DeviceMemoryUsage> usage = manager.GetDeviceMemoryUsage();
  REQUIRE(usage.size() == 3);
  for (std::size_t i = 0; i < usage.size(); ++i) {
    INFO("device " << i);
    std::int64_t values = 0, gradients = 0;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      if (manager.DeviceOf(layer) != static_cast<std::int64_t>(i)) continue;
      for (const Parameter* parameter : layers[layer]->Parameters()) {
        const std::int64_t bytes = RoundUpToAlignment(4 * parameter->shape.ElementCount());
        values += bytes;
        gradients += parameter->trainable ? bytes : 0;
      }
    }
    CHECK(usage[i].device == static_cast<std::int64_t>(i));
    CHECK(usage[i].live[MemoryTag::kParameter] == values);
    CHECK(usage[i].live[MemoryTag::kGradient] == gradients);
    CHECK(usage[i].peak_bytes >= usage[i].live_bytes);
  }
  CHECK(manager.DeviceOf(0) == 0);
  CHECK(manager.DeviceOf(6) == 2);
}

// Adds the second variable of the tuple to the first.
class AddCondition final : public TupleLayer {
 public:
  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return "adds the condition"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    vars[0] = Add(context, vars[0], vars.at(1));
  }
};

TEST_CASE("the conditioning goes to every device", "[manager][sharding]") {
  OwnedLayers owned;
  for (int i = 0; i < 4; ++i) owned.push_back(std::make_unique<AddCondition>());
  TrainingMemoryConfig config;
  config.num_devices = 4;
  TrainingMemoryManager manager(config, PointersTo(owned), OptionsOf(kKind));
  const Tensor input = RandomTensor({5, 6}, 3, DType::kF32);
  const Tensor condition = RandomTensor({5, 6}, 4, DType::kF32);
  const Tensor output = manager.ShardedForward(input, condition);
  for (std::int64_t i = 0; i < output.size(); ++i) {
    float sum = input.data<float>()[i];
    for (int layer = 0; layer < 4; ++layer) sum += condition.data<float>()[i];
    REQUIRE(output.data<float>()[i] == sum);
  }
  CHECK(Numbers(manager.ShardedBackward(output)) == Numbers(output));
  CHECK_THROWS(manager.ShardedForward(input));  // the layers take a condition
}

TEST_CASE("a sequence of functions is checkpointed in runs", "[manager][sharding]") {
  const auto run = [](std::int64_t every, int& runs) {
    TrainingMemoryManager manager(Every(every), OptionsOf(kKind));
    Tape tape;
    const TapeScope scope(manager.context(), &tape);
    const Var x = {RandomTensor({5, 6}, 3, DType::kF32), tape.NewSlot()};
    const SegmentFunction function = [&runs](Context& context, const Var& from) {
      ++runs;
      return Activate(context, from, {Activation::kTanh});
    };
    const Var y = manager.CheckpointSequence(std::vector<SegmentFunction>(5, function), x);
    tape.Backward(manager.context(), y.slot, y.value);
    return Numbers(tape.TakeGradient(x.slot));
  };
  int plain_runs = 0, checkpointed_runs = 0;
  const std::vector<double> plain = run(0, plain_runs);
  CHECK(run(2, checkpointed_runs) == plain);
  CHECK(plain_runs == 5);
  CHECK(checkpointed_runs == 10);
}

}  // namespace
}  // namespace frugal::testing

// Every mistake with a TrainingMemoryManager gets one sentence, and breaks nothing.
#include "layers/sequential.h"
#include "sdk/core/error.h"
#include "tests/builders/manager_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

struct Fixture {
  OwnedLayers layers = MakeLayers();
  LayerPointers list = PointersTo(layers);
  TrainingMemoryManager manager{Every(2), OptionsOf(kReferenceF64)};
  Tensor input = InputFor(kReferenceF64);

  std::int64_t live(MemoryTag tag) const { return manager.GetDeviceMemoryUsage()[0].live[tag]; }
};

TEST_CASE("backward twice with one state", "[manager][misuse]") {
  Fixture f;
  auto [output, state] = f.manager.ForwardWithCheckpointing(f.list, f.input);
  CHECK(state.is_pending());
  f.manager.BackwardWithCheckpointing(GradientLike(output), state);
  CHECK_FALSE(state.is_pending());
  CHECK_THROWS_WITH(f.manager.BackwardWithCheckpointing(GradientLike(output), state),
                    "[BackwardWithCheckpointing] the state of a forward pass goes through "
                    "backward once; this one has done so; run ForwardWithCheckpointing again");
}

TEST_CASE("a state of no pass, or of another manager", "[manager][misuse]") {
  Fixture f;
  CheckpointState none;
  CHECK_THROWS_WITH(f.manager.BackwardWithCheckpointing(f.input, none),
                    Contains("this one is of no forward pass"));
  TrainingMemoryManager other(Every(2), OptionsOf(kReferenceF64));
  auto [output, state] = f.manager.ForwardWithCheckpointing(f.list, f.input);
  CHECK_THROWS_WITH(other.BackwardWithCheckpointing(GradientLike(output), state),
                    Contains("this one is of another manager"));
  CheckpointState moved = std::move(state);
  CHECK_THROWS_AS(f.manager.BackwardWithCheckpointing(GradientLike(output), state), UsageError);
  CHECK(f.manager.BackwardWithCheckpointing(GradientLike(output), moved));
}

TEST_CASE("a gradient of another shape or type leaves the state as it was", "[manager][misuse]") {
  Fixture f;
  auto [output, state] = f.manager.ForwardWithCheckpointing(f.list, f.input);
  CHECK_THROWS_WITH(
      f.manager.BackwardWithCheckpointing(RandomTensor({4, 5}, 1, DType::kF64), state),
      "[BackwardWithCheckpointing] the output's gradient has the output's shape [5, 4]; [4, 5]; "
      "give the derivative of the loss by each element of the output");
  CHECK_THROWS_AS(f.manager.BackwardWithCheckpointing({}, state), ShapeError);
  CHECK_THROWS_WITH(f.manager.BackwardWithCheckpointing(RandomTensor({5, 4}, 1), state),
                    Contains("the output's elements, f64; they are f32"));
  CHECK(state.is_pending());
  CHECK(f.manager.BackwardWithCheckpointing(GradientLike(output), state));
}

TEST_CASE("an input that is none, or of another type or shape", "[manager][misuse]") {
  Fixture f;
  CHECK_THROWS_WITH(f.manager.ForwardWithCheckpointing(f.list, {}),
                    Contains("[ForwardWithCheckpointing] the input is a tensor"));
  CHECK_THROWS_WITH(f.manager.ForwardWithCheckpointing(f.list, RandomTensor({5, 6}, 1)),
                    Contains("its elements are f32"));
  CHECK_THROWS_AS(f.manager.CheckpointSequence(f.list, Var()), UsageError);
  CHECK_THROWS_AS(f.manager.EstimateMemory(f.list, Tensor()), UsageError);
  VarTuple nothing;
  CHECK_THROWS_AS(f.manager.CheckpointSequence(f.list, nothing), UsageError);
  const TrainingMemoryManager::SeveralInputsFunction none;
  CHECK_THROWS_AS(f.manager.Checkpoint(none, std::vector<Var>()), UsageError);
  CHECK_THROWS_AS(f.manager.ForwardWithCheckpointing(f.list, RandomTensor({5, 7}, 1, DType::kF64)),
                  ShapeError);
  CHECK_THROWS_WITH(f.manager.ForwardWithCheckpointing({f.list[0], nullptr}, f.input),
                    Contains("number 1 of 2 is null"));
  CHECK_THROWS_AS(f.manager.Checkpoint(SegmentFunction(), {f.input}), UsageError);
  CHECK(f.live(MemoryTag::kActivation) == 0);
  CHECK(f.manager.context().tape() == nullptr);
  CHECK(f.manager.ForwardWithCheckpointing(f.list, f.input).output);
}

TEST_CASE("rented tensors go back once, to their manager, alone", "[manager][misuse]") {
  Fixture f;
  TrainingMemoryManager other(Every(2), OptionsOf(kReferenceF64));
  Tensor tensor = f.manager.RentTensor({5, 6});
  CHECK_THROWS_WITH(other.ReturnTensor(tensor), Contains("was not rented from this manager"));
  CHECK_THROWS_WITH(f.manager.ReturnTensor(f.input), Contains("was not rented"));
  auto forward = f.manager.ForwardWithCheckpointing({}, f.input);
  CHECK_THROWS_AS(f.manager.ReturnTensor(forward.output), UsageError);

  Tensor copy = tensor;
  CHECK_THROWS_WITH(f.manager.ReturnTensor(tensor), Contains("that is held in 1 more places"));
  CHECK(tensor);
  copy = Tensor();
  f.manager.ReturnTensor(tensor);
  CHECK_THROWS_WITH(f.manager.ReturnTensor(tensor),
                    "[ReturnTensor] a tensor goes back once, to the manager it was rented from, "
                    "when nothing else holds it; an empty tensor, returned before or never "
                    "rented; return each tensor once");
}

TEST_CASE("what a waiting pass needs cannot be returned", "[manager][misuse]") {
  Fixture f;
  Tensor input = f.manager.RentTensor({5, 6});
  std::ranges::fill(input.values<double>(), 0.5);
  auto [output, state] = f.manager.ForwardWithCheckpointing(f.list, input);
  CHECK_THROWS_WITH(f.manager.ReturnTensor(input), Contains("run backward, which may need it"));
  f.manager.BackwardWithCheckpointing(GradientLike(output), state);
  f.manager.ReturnTensor(input);
  CHECK_FALSE(input);
}

TEST_CASE("tensors and states may outlive their manager", "[manager][misuse]") {
  std::optional<TrainingMemoryManager> manager(std::in_place, Every(2), OptionsOf(kReferenceF64));
  const OwnedLayers layers = MakeLayers();
  Tensor rented = manager->RentTensor({5, 6});
  std::ranges::fill(rented.values<double>(), 0.5);
  auto [output, state] = manager->ForwardWithCheckpointing(PointersTo(layers), rented);
  const Tensor weight = manager->context().parameters().Value(*layers[0]->Parameters()[0]);
  const std::vector<double> before = Values(output);
  manager.reset();
  CHECK(Values(output) == before);
  CHECK(Values(rented)[29] == 0.5);
  CHECK(Values(weight).size() == 48);
  TrainingMemoryManager another(Every(2), OptionsOf(kReferenceF64));
  CHECK_THROWS_AS(another.BackwardWithCheckpointing(GradientLike(output), state), UsageError);
  CHECK_THROWS_WITH(another.ReturnTensor(rented), Contains("was not rented from this manager"));
}

TEST_CASE("negative and impossible shapes", "[manager][misuse]") {
  Fixture f;
  CHECK_THROWS_WITH(f.manager.RentTensor({3, -1}),
                    "[RentTensor] no extent is negative; [3, -1]; give the number of elements "
                    "along each axis");
  CHECK_THROWS_AS(f.manager.RentTensor({-3, -1}), ShapeError);
  CHECK_THROWS_AS(f.manager.RentTensor({INT64_MAX, 3}), ShapeError);
  Tensor nothing = f.manager.RentTensor({0, 3});
  f.manager.ReturnTensor(nothing);
}

TEST_CASE("an error in a layer uses up its pass and nothing else", "[manager][misuse]") {
  class Failing final : public Layer {
   public:
    LayerKind kind() const override { return LayerKind::kActivation; }
    std::string Describe() const override { return "failing"; }

   private:
    Var Forward(Context& context, const Var& input) override {
      if (context.recomputing()) throw std::runtime_error("second run");
      return Activate(context, input, Activation::kTanh);
    }
  };
  Fixture f;
  Failing failing;
  LayerPointers list = f.list;
  list.insert(list.begin() + 3, &failing);
  {
    auto [output, state] = f.manager.ForwardWithCheckpointing(list, f.input);
    const Tensor seed = GradientLike(output);
    CHECK_THROWS_WITH(f.manager.BackwardWithCheckpointing(seed, state), "second run");
    CHECK_THROWS_AS(f.manager.BackwardWithCheckpointing(seed, state), UsageError);
    output = Tensor();
    CHECK(f.live(MemoryTag::kActivation) == 0);
  }
  f.manager.context().parameters().ClearGradients();
  auto [output, state] = f.manager.ForwardWithCheckpointing(f.list, f.input);
  CHECK(f.manager.BackwardWithCheckpointing(GradientLike(output), state));
}

TEST_CASE("a memory limit refuses a pass and leaves nothing behind", "[manager][misuse]") {
  TrainingMemoryConfig config = Every(2);
  config.max_memory_per_device_mb = 1;
  TrainingMemoryManager manager(config);
  CHECK(manager.GetDeviceMemoryUsage()[0].limit_bytes == std::int64_t{1} << 20);
  Dense wide(6, {.units = 30'000});
  CHECK_THROWS_AS(manager.ForwardWithCheckpointing({&wide}, RandomTensor({20, 6}, 1)), MemoryError);
  CHECK(manager.GetDeviceMemoryUsage()[0].live[MemoryTag::kActivation] == 0);
  CHECK_THROWS_WITH(manager.RentTensor({1 << 20}), Contains("max_memory_per_device_mb"));
}

TEST_CASE("parameters of one number are refused, not mixed up", "[manager][misuse]") {
  Fixture f;
  Dense unknown(6, {.units = 6});  // used by a function, and never adopted
  const auto function = [&](Context& context, const Var& x) { return unknown(context, x); };
  CHECK_THROWS_WITH(f.manager.Checkpoint(function, {f.input}),
                    Contains("[weight] every parameter has a path and a number of its own; this "
                             "one was never named"));
  f.manager.Adopt(f.list);
  f.manager.Adopt({&unknown});
  CHECK(f.manager.Checkpoint(function, {f.input}).value);

  Sequential numbered;  // by someone else, from 0 on
  numbered.Append("a", std::make_unique<Dense>(6, DenseOptions{.units = 6}));
  numbered.AssignPaths("net");
  NumberParameters(numbered);
  CHECK_THROWS_WITH(f.manager.Adopt({&numbered}),
                    Contains("[net.a.weight] every parameter of a manager's layers has its own "
                             "number; it has number 0, which 0.weight [8, 6] has already"));
}

TEST_CASE("configurations that a manager cannot honour", "[manager][misuse]") {
  const auto refuse = [](const std::string& words, auto change) {
    TrainingMemoryConfig config;
    change(config);
    CHECK_THROWS_WITH(TrainingMemoryManager(config), Contains(words));
    CHECK_THROWS_AS(TrainingMemoryManager(config), ConfigError);
  };
  refuse("checkpoint_every_n_layers", [](auto& c) { c.checkpoint_every_n_layers = 0; });
  refuse("max_pool_memory_mb", [](auto& c) { c.max_pool_memory_mb = -1; });
  refuse("memory_budget_mb", [](auto& c) { c.memory_budget_mb = MemoryBudget(); });
  refuse("optimizer_in_backward", [](auto& c) { c.optimizer_in_backward = true; });
  CHECK_THROWS_AS(TrainingMemoryManager({}, {.dtype = DType::kI64}), ConfigError);
  CHECK_THROWS_AS(
      TrainingMemoryManager({}, {.backend = BackendKind::kEigen, .dtype = DType::kBF16}),
      ConfigError);
  CHECK_THROWS_AS(TrainingMemoryManager(TrainingMemoryConfig::ForTransferLearning("/no/such/file")),
                  WeightFileError);
}

TEST_CASE("sharded calls refuse plainly", "[manager][misuse]") {
  Fixture f;
  CHECK_THROWS_WITH(f.manager.ShardedForward(f.input),
                    Contains("[ShardedForward] sharding is on; num_devices = 1; set num_devices"));
  CHECK_THROWS_AS(f.manager.ShardedForward(f.input, f.input), UsageError);
  CHECK_THROWS_AS(f.manager.ShardedBackward(f.input), UsageError);
  CHECK_THROWS_AS(f.manager.ShardedUpdateParameters(0.1), UsageError);
  CHECK_THROWS_AS(f.manager.DeviceOf(0), UsageError);

  TrainingMemoryConfig two;
  two.num_devices = 2;
  TrainingMemoryManager without(two, OptionsOf(kReferenceF64));
  CHECK_THROWS_WITH(without.ShardedForward(f.input), Contains("it was made without layers"));
  TrainingMemoryManager manager(two, f.list, OptionsOf(kReferenceF64));
  CHECK_THROWS_WITH(manager.ShardedBackward(f.input), Contains("there was none"));
  CHECK_THROWS_WITH(manager.ShardedUpdateParameters(0.1), Contains("no pass has run"));
  CHECK_THROWS_WITH(manager.ShardedForward(Tensor()), Contains("[ShardedForward]"));
  const Tensor output = manager.ShardedForward(f.input);
  CHECK_THROWS_AS(manager.ShardedBackward(f.input), ShapeError);  // not of the output's shape
  manager.ShardedBackward(output);
  CHECK_THROWS_WITH(manager.ShardedBackward(output), Contains("the last one has done so"));
  CHECK_THROWS_WITH(manager.ShardedUpdateParameters(-1), Contains("a number from 0"));
  two.num_devices = 100;
  CHECK_THROWS_AS(
      TrainingMemoryManager(two, f.list, OptionsOf(kReferenceF64)).ShardedForward(f.input),
      ConfigError);
}

}  // namespace
}  // namespace frugal::testing

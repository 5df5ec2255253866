#include "builders/training_memory_manager.h"

#include "layers/sequential.h"
#include "sdk/ops/elementwise.h"
#include "sdk/optim/optimizer.h"
#include "tests/builders/manager_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

ManagedPass RunManaged(const EnvironmentKind& kind, std::int64_t every,
                       const LayerPointers& layers) {
  TrainingMemoryManager manager(Every(every), OptionsOf(kind));
  manager.context().set_step(17);
  auto [output, state] = manager.ForwardWithCheckpointing(layers, InputFor(kind));
  const Tensor kept = CopyOf(output);
  output = Tensor();
  const Tensor gradient = manager.BackwardWithCheckpointing(GradientLike(kept), state);
  return Collect(manager.context().parameters(), layers, kept, gradient);
}

// RunOperation runs the same pass by an operation on a tape of its own.
using Operation = std::function<Var(TrainingMemoryManager&, const LayerPointers&, const Var&)>;
ManagedPass RunOperation(const EnvironmentKind& kind, std::int64_t every,
                         const LayerPointers& layers, const Operation& operation) {
  TrainingMemoryManager manager(Every(every), OptionsOf(kind));
  manager.context().set_step(17);
  Tape tape;
  const TapeScope scope(manager.context(), &tape);
  const Var x = {InputFor(kind), tape.NewSlot()};
  const Var y = operation(manager, layers, x);
  tape.Backward(manager.context(), y.slot, GradientLike(y.value));
  return Collect(manager.context().parameters(), layers, y.value, tape.TakeGradient(x.slot));
}

TEST_CASE("checkpointed passes over a list equal plain backward to the bit", "[manager]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    for (const std::size_t count : {0u, 1u, 2u, 7u}) {
      const OwnedLayers plain_layers = MakeLayers(count);
      const ManagedPass plain = RunPlainly(kind, PointersTo(plain_layers), InputFor(kind));
      for (const std::int64_t every : {0, 1, 2, 3, 7, 100}) {
        INFO(kind << ", " << count << " layers, every " << every);
        const OwnedLayers layers = MakeLayers(count);
        CheckSame(RunManaged(kind, every, PointersTo(layers)), plain);
      }
    }
  }
}

TEST_CASE("a checkpointed sequence equals plain backward to the bit", "[manager]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    for (const std::size_t count : {0u, 1u, 7u}) {
      const OwnedLayers plain_layers = MakeLayers(count);
      const ManagedPass plain = RunPlainly(kind, PointersTo(plain_layers), InputFor(kind));
      for (const std::int64_t every : {0, 1, 3}) {
        INFO(kind << ", " << count << " layers, every " << every);
        const OwnedLayers layers = MakeLayers(count);
        const auto sequence = [](TrainingMemoryManager& manager, const LayerPointers& list,
                                 const Var& x) { return manager.CheckpointSequence(list, x); };
        CheckSame(RunOperation(kind, every, PointersTo(layers), sequence), plain);
      }
    }
  }
}

TEST_CASE("a checkpointed function equals plain backward to the bit", "[manager]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const OwnedLayers plain_layers = MakeLayers();
    const ManagedPass plain = RunPlainly(kind, PointersTo(plain_layers), InputFor(kind));
    for (const std::int64_t every : {0, 1}) {
      INFO(kind << (every == 0 ? ", off" : ", on"));
      const OwnedLayers layers = MakeLayers();
      const auto function = [](TrainingMemoryManager& manager, const LayerPointers& list,
                               const Var& x) {
        manager.Adopt(list);
        return manager.Checkpoint(
            [list](Context& context, const Var& start) {
              Var y = start;
              for (Layer* layer : list) y = (*layer)(context, y);
              return y;
            },
            x);
      };
      CheckSame(RunOperation(kind, every, PointersTo(layers), function), plain);
    }
  }
}

// Several inputs, one of them twice and one beside; dropout and a layer inside.
ManagedPass RunSeveral(const EnvironmentKind& kind, std::int64_t every, bool by_manager) {
  Dense dense(6, {.units = 6, .activation = {Activation::kTanh}});
  const LayerPointers list = {&dense};
  const auto function = [&](Context& context, const std::vector<Var>& in) {
    const Var a = Dropout(context, dense(context, in[0]), 0.3, "a");
    return Add(context, Add(context, a, in[1]), Activate(context, in[0], Activation::kSilu));
  };
  return RunOperation(
      kind, every, list, [&](TrainingMemoryManager& manager, const LayerPointers&, const Var& x) {
        manager.Adopt(list);
        Context& context = manager.context();
        const Var other = Activate(context, x, Activation::kSigmoid);
        const std::vector<Var> inputs = {x, other};
        const Var y = by_manager ? manager.Checkpoint(function, inputs) : function(context, inputs);
        return Add(context, y, other);
      });
}

TEST_CASE("a checkpointed function of several inputs changes no bit", "[manager]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    const ManagedPass plain = RunSeveral(kind, 1, false);
    CheckSame(RunSeveral(kind, 1, true), plain);
    CheckSame(RunSeveral(kind, 0, true), plain);
  }
}

TEST_CASE("a function of several inputs runs twice, and may take none", "[manager]") {
  TrainingMemoryManager manager(Every(1), OptionsOf(kReferenceF64));
  Context& context = manager.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  const Tensor value = InputFor(kReferenceF64);
  int runs = 0;
  const auto count = [&](Context& ctx, const std::vector<Var>& in) {
    ++runs;
    return in.empty() ? Activate(ctx, {value}, Activation::kTanh) : Add(ctx, in[0], in[1]);
  };
  const Var a = {value, tape.NewSlot()};
  const Var b = {value, tape.NewSlot()};
  const Var sum = manager.Checkpoint(count, {a, b});
  CHECK(runs == 1);
  const Tensor seed = GradientLike(sum.value);
  tape.Backward(context, sum.slot, seed);
  CHECK(runs == 2);
  CHECK(SameBits(tape.TakeGradient(a.slot), seed));
  CHECK(SameBits(tape.TakeGradient(b.slot), seed));
  const Var nothing = manager.Checkpoint(count, std::vector<Var>());
  CHECK(nothing.shape() == Shape{5, 6});
  CHECK_FALSE(nothing.needs_gradient());
}

// Adds the second variable, and hands on half of what it got.
class MixLayer final : public TupleLayer {
 public:
  LayerKind kind() const override { return LayerKind::kActivation; }
  std::string Describe() const override { return "mix"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    vars[0] = Activate(context, Add(context, vars[0], vars[1]), Activation::kTanh);
    vars[1] = Activate(context, vars[1], Activation::kSilu);
  }
};

TEST_CASE("a sequence over several variables changes no bit", "[manager]") {
  const auto run = [](TrainingMemoryConfig config) {
    Dense dense(6, {.units = 6});
    MixLayer mix;
    const LayerPointers list = {&mix, &dense, &mix, &mix, &dense};
    TrainingMemoryManager manager(config, OptionsOf(kReferenceF64));
    Context& context = manager.context();
    Tape tape;
    const TapeScope scope(context, &tape);
    const Var x = {InputFor(kReferenceF64), tape.NewSlot()};
    const Var beside = {RandomTensor({5, 6}, 8, DType::kF64), tape.NewSlot()};
    VarTuple vars = {x, beside};
    manager.CheckpointSequence(list, vars);
    const Var y = Add(context, vars[0], vars[1]);
    tape.Backward(context, y.slot, GradientLike(y.value));
    ManagedPass pass = Collect(context.parameters(), list, y.value, tape.TakeGradient(x.slot));
    pass.gradients.push_back(CopyOf(tape.TakeGradient(beside.slot)));
    return pass;
  };
  TrainingMemoryConfig heavy = Every(3);
  heavy.high_activation_memory_threshold_bytes = 100;
  const ManagedPass plain = run(Every(0));
  CheckSame(run(Every(1)), plain);
  CheckSame(run(Every(2)), plain);
  CheckSame(run(heavy), plain);
}

TEST_CASE("bf16 activations: the same bits with and without checkpointing, from f32 inputs",
          "[manager]") {
  std::vector<ManagedPass> passes;
  for (const std::int64_t every : {0, 2}) {
    const OwnedLayers layers = MakeLayers();
    TrainingMemoryManager manager(Every(every), OptionsOf(kOneDnnBf16));
    const Tensor input = RandomTensor({5, 6}, 3);
    auto [output, state] = manager.ForwardWithCheckpointing(PointersTo(layers), input);
    CHECK(output.dtype() == DType::kBF16);
    const Tensor seed = RandomTensor(output.shape(), 99);  // f32: it is converted
    const Tensor gradient = manager.BackwardWithCheckpointing(seed, state);
    CHECK(gradient.dtype() == DType::kF32);
    passes.push_back(Collect(manager.context().parameters(), PointersTo(layers), output, gradient));
  }
  CheckSame(passes[0], passes[1]);
}

TEST_CASE("the step of the forward pass is that of its recomputation", "[manager]") {
  const OwnedLayers plain_layers = MakeLayers();
  const ManagedPass plain =
      RunPlainly(kReferenceF64, PointersTo(plain_layers), InputFor(kReferenceF64));
  const OwnedLayers layers = MakeLayers();
  TrainingMemoryManager manager(Every(2), OptionsOf(kReferenceF64));
  Context& context = manager.context();
  context.set_step(17);
  auto [output, state] =
      manager.ForwardWithCheckpointing(PointersTo(layers), InputFor(kReferenceF64));
  context.set_step(18);
  context.set_training(false);
  const Tensor gradient = manager.BackwardWithCheckpointing(GradientLike(output), state);
  CheckSame(Collect(context.parameters(), PointersTo(layers), output, gradient), plain);
  CHECK(context.step() == 18);
  CHECK_FALSE(context.training());
}

TEST_CASE("passes may be on their way side by side", "[manager]") {
  const OwnedLayers layers = MakeLayers(1);
  TrainingMemoryManager manager(Every(2), OptionsOf(kReferenceF64));
  const LayerPointers list = PointersTo(layers);
  const auto gradient_of = [&](CheckpointState& state, const Tensor& output) {
    return CopyOf(manager.BackwardWithCheckpointing(GradientLike(output), state));
  };
  const Tensor a = RandomTensor({5, 6}, 1, DType::kF64);
  const Tensor b = RandomTensor({2, 6}, 2, DType::kF64);
  auto [alone_output, alone] = manager.ForwardWithCheckpointing(list, a);
  const Tensor expected = gradient_of(alone, alone_output);
  auto [first_output, first] = manager.ForwardWithCheckpointing(list, a);
  auto [second_output, second] = manager.ForwardWithCheckpointing(list, b);
  CHECK(SameBits(gradient_of(first, first_output), expected));
  CHECK(gradient_of(second, second_output).shape() == Shape{2, 6});
}

TEST_CASE("the same layer twice in a list, and a list that grows", "[manager]") {
  const auto run = [](std::int64_t every) {
    Dense dense(6, {.units = 6, .activation = {Activation::kTanh}});
    DropoutLayer dropout({.rate = 0.5});
    TrainingMemoryManager manager(Every(every), OptionsOf(kReferenceF64));
    manager.Adopt({&dense});
    const LayerPointers list = {&dense, &dropout, &dense};
    auto [output, state] = manager.ForwardWithCheckpointing(list, InputFor(kReferenceF64));
    const Tensor gradient = manager.BackwardWithCheckpointing(GradientLike(output), state);
    CHECK(dense.path() == "0");
    CHECK(dropout.path() == "1");
    return Collect(manager.context().parameters(), list, output, gradient);
  };
  CheckSame(run(1), run(0));
}

TEST_CASE("named and numbered layers stay as they are", "[manager]") {
  Sequential network;
  network.Append("a", std::make_unique<Dense>(6, DenseOptions{.units = 6}));
  network.Append("b", std::make_unique<Dense>(6, DenseOptions{.units = 6}));
  network.AssignPaths("net");
  NumberParameters(network);
  Dense mine(6, {.units = 6});
  TrainingMemoryManager manager(Every(1), OptionsOf(kReferenceF64));
  manager.Adopt({&mine, &network});
  CHECK(network.layer(1).path() == "net.b");
  CHECK(network.Parameters()[3]->index == 3);
  CHECK(mine.path() == "0");
  CHECK(mine.Parameters()[0]->index == 4);
  CHECK(mine.Parameters()[1]->index == 5);
}

TEST_CASE("the documented example learns", "[manager]") {
  TrainingMemoryManager manager(TrainingMemoryConfig::MemoryEfficient());
  Dense first(8, {.units = 16, .activation = {Activation::kRelu}});
  Dense second(16, {.units = 2});
  const LayerPointers layers = {&first, &second};
  const Optimizer optimizer({.kind = OptimizerKind::kAdam, .lr = 1e-2}, {}, 0, 200);
  Tensor inputs = manager.RentTensor({32, 8});
  std::ranges::copy(RandomTensor({32, 8}, 1).values<float>(), inputs.data<float>());
  double last = 0;
  double start = 0;
  for (int step = 0; step < 200; ++step) {
    manager.context().set_step(step);
    auto [output, state] = manager.ForwardWithCheckpointing(layers, inputs);
    Tensor gradient = manager.RentTensor(output.shape());
    double loss = 0;  // of fitting twice the first two inputs
    for (std::size_t i = 0; i < 64; ++i) {
      const float target = 2 * inputs.data<float>()[i / 2 * 8 + i % 2];
      const float difference = output.data<float>()[i] - target;
      gradient.data<float>()[i] = difference / 64;
      loss += 0.5 * difference * difference / 64;
    }
    manager.BackwardWithCheckpointing(gradient, state);
    manager.ReturnTensor(gradient);
    optimizer.Step(manager.context(), ParametersOf(layers));
    manager.context().parameters().ClearGradients();
    if (step == 0) start = loss;
    last = loss;
  }
  CHECK(last < 0.05 * start);
}

}  // namespace
}  // namespace frugal::testing

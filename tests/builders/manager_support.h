#pragma once

#include "builders/training_memory_manager.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/simple_layers.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

// Lists of layers, run by a TrainingMemoryManager or plainly.
namespace frugal::testing {

using OwnedLayers = std::vector<std::unique_ptr<Layer>>;

// The first `count` of seven layers over [M, 6], with dropout and batch norm among them.
inline OwnedLayers MakeLayers(std::size_t count = 7) {
  OwnedLayers layers;
  layers.push_back(
      std::make_unique<Dense>(6, DenseOptions{.units = 8, .activation = {Activation::kGelu}}));
  layers.push_back(std::make_unique<BatchNormLayer>(8, BatchNormOptions()));
  layers.push_back(std::make_unique<DropoutLayer>(DropoutOptions{.rate = 0.3}));
  layers.push_back(
      std::make_unique<Dense>(8, DenseOptions{.units = 8, .activation = {Activation::kTanh}}));
  layers.push_back(std::make_unique<LayerNormLayer>(8, LayerNormOptions()));
  layers.push_back(std::make_unique<ActivationLayer>(ActivationOptions{{Activation::kSilu}}));
  layers.push_back(std::make_unique<Dense>(8, DenseOptions{.units = 4}));
  layers.resize(count);
  return layers;
}

// Counts its runs, and those that are for backward; otherwise a silu.
class CountingLayer final : public Layer {
 public:
  LayerKind kind() const override { return LayerKind::kActivation; }
  std::string Describe() const override { return "counting"; }

  int runs = 0;
  int recomputed = 0;

 private:
  Var Forward(Context& context, const Var& input) override {
    ++runs;
    recomputed += context.recomputing() ? 1 : 0;
    return Activate(context, input, Activation::kTanh);  // keeps what it makes
  }
};

inline TrainingMemoryConfig Every(std::int64_t n) {
  TrainingMemoryConfig config;
  config.use_gradient_checkpointing = n > 0;
  if (n > 0) config.checkpoint_every_n_layers = n;
  return config;
}

inline TrainingMemoryManagerOptions OptionsOf(const EnvironmentKind& kind) {
  return {.backend = kind.backend, .dtype = kind.dtype, .seed = 7};
}

inline Tensor InputFor(const EnvironmentKind& kind) { return RandomTensor({5, 6}, 3, kind.dtype); }

// Holds what a pass leaves behind, to be compared to the bit.
struct ManagedPass {
  Tensor output;
  Tensor input_gradient;
  std::vector<Tensor> gradients;  // of parameters
  std::vector<Tensor> values;     // with the running statistics
};

inline ManagedPass Collect(ParameterStore& store, const LayerPointers& layers, Tensor output,
                           Tensor input_gradient) {
  ManagedPass pass{CopyOf(output), input_gradient ? CopyOf(input_gradient) : Tensor(), {}, {}};
  for (const Parameter* parameter : ParametersOf(layers)) {
    const Tensor gradient = store.Gradient(*parameter);
    pass.gradients.push_back(gradient ? CopyOf(gradient) : Tensor());
    pass.values.push_back(CopyOf(store.Value(*parameter)));
  }
  return pass;
}

// Without any manager: one tape, layers named and numbered by hand.
inline ManagedPass RunPlainly(const EnvironmentKind& kind, const LayerPointers& layers,
                              const Tensor& input, std::int64_t step = 17) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i]->AssignPaths(std::to_string(i));
    for (Parameter* parameter : layers[i]->Parameters()) parameter->index = number++;
  }
  TestEnvironment environment(kind);
  environment.context().set_step(step);
  const auto chain = [&](Context& context, const Var& x) {
    Var y = x;
    for (Layer* layer : layers) y = (*layer)(context, y);
    return y;
  };
  const Pass pass = RunPass(environment, chain, input);
  return Collect(environment.store(), layers, pass.output, pass.input_gradient);
}

inline void CheckSame(const ManagedPass& a, const ManagedPass& b) {
  CHECK(SameBits(a.output, b.output));
  REQUIRE(static_cast<bool>(a.input_gradient) == static_cast<bool>(b.input_gradient));
  if (a.input_gradient) CHECK(SameBits(a.input_gradient, b.input_gradient));
  CHECK(SameBits(a.gradients, b.gradients));
  CHECK(SameBits(a.values, b.values));
}

inline Tensor GradientLike(const Tensor& output) {
  return RandomTensor(output.shape(), 99, output.dtype());
}

}  // namespace frugal::testing

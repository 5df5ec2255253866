#pragma once

#include <functional>
#include <vector>

#include "sdk/autograd/finite_difference.h"
#include "sdk/module/module.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

// One forward and backward pass over a function of one input.
namespace frugal::testing {

using Function = std::function<Var(Context&, const Var&)>;

// Copies that outlive the pass, in memory that no ledger counts.
inline Tensor CopyOf(const Tensor& tensor) {
  const Tensor copy = Uninitialized(tensor.shape(), tensor.dtype());
  if (tensor.bytes() > 0) {
    std::memcpy(copy.raw(), tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
  }
  return copy;
}

struct Pass {
  Shape output_shape;
  Tensor output;  // copies; empty in a dry environment
  Tensor input_gradient;
};

// Runs `function` on `input` and back from a fixed random gradient of its output. Everything the
// pass took is free again at its end, apart from parameters and their gradients.
inline Pass RunPass(TestEnvironment& environment, const Function& function, const Tensor& input) {
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var leaf = {input, tape.NewSlot()};
  Var output = function(context, leaf);
  Pass pass{output.shape(), {}, {}};
  const Tensor gradient = RandomTensor(output.shape(), 99, environment.dtype());
  if (!environment.kind().dry) pass.output = CopyOf(output.value);
  const int slot = output.slot;
  output = Var();
  if (slot != Var::kNoGradient) tape.Backward(context, slot, gradient);
  const Tensor arrived = tape.TakeGradient(leaf.slot);
  if (arrived && !environment.kind().dry) pass.input_gradient = CopyOf(arrived);
  return pass;
}

// Copies of the gradients, or of the values, of a module's parameters, in order.
inline std::vector<Tensor> GradientsOf(TestEnvironment& environment, Module& module) {
  std::vector<Tensor> gradients;
  for (const Parameter* parameter : module.Parameters()) {
    const Tensor gradient = environment.store().Gradient(*parameter);
    gradients.push_back(gradient ? CopyOf(gradient) : Tensor());
  }
  return gradients;
}
inline std::vector<Tensor> ValuesOf(TestEnvironment& environment, Module& module) {
  std::vector<Tensor> values;
  for (const Parameter* parameter : module.Parameters()) {
    values.push_back(CopyOf(environment.store().Value(*parameter)));
  }
  return values;
}

inline bool SameBits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (static_cast<bool>(a[i]) != static_cast<bool>(b[i])) return false;
    if (a[i] && !SameBits(a[i], b[i])) return false;
  }
  return true;
}

// A parameter as a leaf of FiniteDifferenceErrors.
inline OutsideLeaf LeafOf(TestEnvironment& environment, const Parameter& parameter) {
  return {environment.store().Value(parameter),
          [&environment, &parameter] { return environment.store().Gradient(parameter); }};
}

}  // namespace frugal::testing

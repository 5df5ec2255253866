#include "sdk/autograd/finite_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sdk/core/error.h"
#include "sdk/core/random.h"

namespace frugal {
namespace {

void RequireF64(DType dtype) {
  if (dtype == DType::kF64) return;
  throw UsageError({.where = "finite differences",
                    .required = "everything is f64",
                    .given = std::string(NameOf(dtype)),
                    .advice = "use the reference backend in f64"});
}

constexpr double kSmallestGradient = 1e-3;

// In [0.5, 1.5), so that no output is weighted away.
double OutputWeight(std::size_t i) {
  return 0.5 + UniformAt(StreamKey(0, "finite differences"), static_cast<std::uint64_t>(i));
}

// One leaf after the other; all calls share these.
struct Check {
  Context& context;
  const CheckedFunction& function;
  const std::vector<Tensor>& inputs;
  double step;

  double Evaluate() const {
    const TapeScope no_tape(context, nullptr);
    std::vector<Var> leaves;
    for (const Tensor& input : inputs) leaves.push_back({input, Var::kNoGradient});
    const Tensor output = function(context, leaves).value;
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(output.size()); ++i) {
      sum += OutputWeight(i) * output.data<double>()[i];
    }
    return sum;
  }

  double Slope(double& value) const {
    const double original = value;
    value = original + step;
    const double above = Evaluate();
    value = original - step;
    const double below = Evaluate();
    value = original;
    return (above - below) / (2 * step);
  }

  double WorstError(const Tensor& value, const Tensor& gradient) const {
    double worst = 0;
    double largest = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(value.size()); ++i) {
      const double numeric = Slope(value.data<double>()[i]);
      const double computed = gradient ? gradient.data<double>()[i] : 0;
      if (!std::isfinite(computed)) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, std::abs(computed - numeric));
      largest = std::max({largest, std::abs(computed), std::abs(numeric)});
    }
    if (!gradient && largest > 0) return std::numeric_limits<double>::infinity();
    return worst / std::max(largest, kSmallestGradient);
  }
};

// The gradient of each input by backward; empty where none arrives.
std::vector<Tensor> InputGradients(const Check& check) {
  Context& context = check.context;
  Tape tape;
  const TapeScope scope(context, &tape);
  std::vector<Var> leaves;
  for (const Tensor& input : check.inputs) leaves.push_back({input, tape.NewSlot()});
  const Var output = check.function(context, leaves);
  const Tensor seed = context.Allocate(output.shape(), output.dtype());
  for (std::size_t i = 0; i < static_cast<std::size_t>(seed.size()); ++i) {
    seed.data<double>()[i] = OutputWeight(i);
  }
  if (output.needs_gradient()) tape.Backward(context, output.slot, seed);
  std::vector<Tensor> gradients;
  for (const Var& leaf : leaves) gradients.push_back(tape.TakeGradient(leaf.slot));
  return gradients;
}

}  // namespace

std::vector<double> FiniteDifferenceErrors(Context& context, const CheckedFunction& function,
                                           const std::vector<Tensor>& inputs,
                                           const std::vector<OutsideLeaf>& outside, double step) {
  RequireF64(context.dtype());
  for (const Tensor& input : inputs) RequireF64(input.dtype());
  for (const OutsideLeaf& leaf : outside) RequireF64(leaf.value.dtype());
  const Check check{context, function, inputs, step};
  const std::vector<Tensor> gradients = InputGradients(check);
  std::vector<double> errors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    errors.push_back(check.WorstError(inputs[i], gradients[i]));
  }
  for (const OutsideLeaf& leaf : outside) {
    errors.push_back(check.WorstError(leaf.value, leaf.gradient()));
  }
  return errors;
}

}  // namespace frugal

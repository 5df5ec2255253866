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
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

  LeafError ErrorOf(const Tensor& value, const Tensor& gradient) const {
    LeafError worst;
    worst.arrives = static_cast<bool>(gradient);
    double distance = -1;
    double largest = 0;
    for (std::int64_t i = 0; i < value.size(); ++i) {
      const double numeric = Slope(value.data<double>()[i]);
      const double computed = gradient ? gradient.data<double>()[i] : 0;
      const bool finite = std::isfinite(computed) && std::isfinite(numeric);
      const double here = finite ? std::abs(computed - numeric) : kInfinity;
      largest = std::max({largest, std::abs(computed), std::abs(numeric)});
      if (here <= distance) continue;
      distance = here;
      worst.element = i;
      worst.computed = computed;
      worst.numeric = numeric;
      if (!finite) break;
    }
    const bool lost = !gradient && largest > 0;
    worst.error = lost || distance == kInfinity
                      ? kInfinity
                      : std::max(distance, 0.0) / std::max(largest, kSmallestGradient);
    return worst;
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

std::vector<LeafError> CompareWithDifferences(Context& context, const CheckedFunction& function,
                                              const std::vector<Tensor>& inputs,
                                              const std::vector<OutsideLeaf>& outside,
                                              double step) {
  RequireF64(context.dtype());
  for (const Tensor& input : inputs) RequireF64(input.dtype());
  for (const OutsideLeaf& leaf : outside) RequireF64(leaf.value.dtype());
  const Check check{context, function, inputs, step};
  const std::vector<Tensor> gradients = InputGradients(check);
  std::vector<LeafError> errors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    errors.push_back(check.ErrorOf(inputs[i], gradients[i]));
  }
  for (const OutsideLeaf& leaf : outside) {
    errors.push_back(check.ErrorOf(leaf.value, leaf.gradient()));
  }
  return errors;
}

std::vector<double> FiniteDifferenceErrors(Context& context, const CheckedFunction& function,
                                           const std::vector<Tensor>& inputs,
                                           const std::vector<OutsideLeaf>& outside, double step) {
  std::vector<double> errors;
  for (const LeafError& leaf : CompareWithDifferences(context, function, inputs, outside, step)) {
    errors.push_back(leaf.error);
  }
  return errors;
}

}  // namespace frugal

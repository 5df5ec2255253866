#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/support/passes.h"

// The checks of operations against central differences in f64 share these.
namespace frugal::testing {

inline Tensor Numbers(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  return RandomTensor(shape, seed, DType::kF64, low, high);
}

// Numbers that are all at least `gap` apart and away from zero, so that no kink lies within a
// difference.
inline Tensor Separated(const Shape& shape, std::uint64_t seed) {
  Tensor tensor = Numbers(shape, seed);
  std::vector<std::size_t> order(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  double* values = tensor.data<double>();
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  const auto count = static_cast<double>(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    values[order[rank]] = 0.05 * (static_cast<double>(rank) - count / 2 + 0.25);
  }
  return tensor;
}

struct GradientModel {
  TestEnvironment environment{kReferenceF64};
  std::vector<std::unique_ptr<Parameter>> parameters;

  const Parameter& Add(const std::string& name, const Shape& shape, double low = -1) {
    const Initializer initializer = Initializer::Uniform(low, 1);
    parameters.push_back(std::make_unique<Parameter>(
        Parameter{.name = name, .path = name, .shape = shape, .initializer = initializer}));
    parameters.back()->index = parameters.size() - 1;
    return *parameters.back();
  }

  void Check(const CheckedFunction& function, const std::vector<Tensor>& inputs) {
    environment.store().ClearGradients();
    std::vector<OutsideLeaf> leaves;
    for (const auto& parameter : parameters) {
      if (parameter->trainable) leaves.push_back(LeafOf(environment, *parameter));
    }
    const auto errors = FiniteDifferenceErrors(environment.context(), function, inputs, leaves);
    REQUIRE(errors.size() == inputs.size() + leaves.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      INFO("leaf " << i << " of " << inputs.size() << " inputs and then parameters");
      CHECK(errors[i] < 1e-6);
    }
  }
};

}  // namespace frugal::testing

#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

TEST_CASE("gradients of linear agree with differences", "[ops][gradients]") {
  for (std::size_t kind = 0; kind < kActivationCount; ++kind) {
    const auto activation = static_cast<Activation>(kind);
    INFO(NameOf(activation));
    GradientModel model;
    const Parameter& weight = model.Add("weight", {4, 3});
    const Parameter& bias = model.Add("bias", {4});
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return Linear(context, x[0], weight, &bias, {.activation = activation});
        },
        {Numbers({2, 3, 3}, 1)});
  }
}

TEST_CASE("gradients of linear without bias agree with differences", "[ops][gradients]") {
  GradientModel model;
  const Parameter& weight = model.Add("weight", {4, 3});
  model.Check([&](Context& context,
                  const std::vector<Var>& x) { return Linear(context, x[0], weight, nullptr); },
              {Numbers({5, 3}, 2)});
}

TEST_CASE("gradients of a weight used twice add up", "[ops][gradients]") {
  GradientModel model;
  const Parameter& weight = model.Add("weight", {3, 3});
  const Parameter& bias = model.Add("bias", {3});
  model.Check(
      [&](Context& context, const std::vector<Var>& x) {
        const Var once = Linear(context, x[0], weight, &bias, {.activation = Activation::kTanh});
        return Add(context, Linear(context, once, weight, &bias), x[0]);
      },
      {Numbers({4, 3}, 3)});
}

TEST_CASE("gradients of a weight [in, out] agree with differences", "[ops][gradients]") {
  GradientModel model;
  const Parameter& weight = model.Add("weight", {3, 4});
  const Parameter& square = model.Add("square", {4, 4});
  const Parameter& bias = model.Add("bias", {4});
  const LinearOptions tanh{.activation = Activation::kTanh, .layout = WeightLayout::kInOut};
  model.Check(
      [&](Context& context, const std::vector<Var>& x) {
        const Var first = Linear(context, x[0], weight, nullptr, tanh);
        // Twice, and once more in the other order: the gradients add up.
        const Var second = Linear(context, first, square, &bias, tanh);
        const Var third = Linear(context, second, square, &bias, tanh);
        return Linear(context, third, square, nullptr);
      },
      {Numbers({2, 3, 3}, 6)});
}

TEST_CASE("gradients of a linear residual agree with differences", "[ops][gradients]") {
  for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
    const LinearOptions options{.layout = layout};
    GradientModel model;
    const Parameter& weight = model.Add("weight", {3, 3});
    const Parameter& bias = model.Add("bias", {3});
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          const Var once = Linear(context, x[0], weight, &bias, options, x[1]);
          // A product may read the tensor that it adds to.
          return Linear(context, once, weight, &bias, options, once);
        },
        {Numbers({2, 5, 3}, 7), Numbers({2, 5, 3}, 8)});
  }
}

TEST_CASE("a residual gets a gradient also where all else is frozen", "[ops][gradients]") {
  GradientModel model;
  const Parameter& weight = model.Add("weight", {2, 3});
  model.parameters.back()->trainable = false;
  const Tensor x = Numbers({4, 3}, 9);
  model.Check(
      [&](Context& context, const std::vector<Var>& residual) {
        return Linear(context, {x}, weight, nullptr, {}, residual[0]);
      },
      {Numbers({4, 2}, 10)});
}

TEST_CASE("gradients of activations agree with differences", "[ops][gradients]") {
  for (std::size_t kind = 0; kind < kActivationCount; ++kind) {
    const auto activation = static_cast<Activation>(kind);
    INFO(NameOf(activation));
    GradientModel model;
    // Up to +-5: past the bends of hardswish at +-3, and no value on a bend.
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Activate(context, x[0], activation); },
                {Separated({5, 41}, 4)});
  }
}

TEST_CASE("gradients of activations with parameters agree with differences", "[ops][gradients]") {
  for (const Activation activation : {Activation::kElu, Activation::kLeakyRelu}) {
    GradientModel model;
    const ActivationFunction function(activation, 0.3);
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Activate(context, x[0], function); },
                {Separated({3, 11}, 5)});
  }
}

}  // namespace
}  // namespace frugal::testing

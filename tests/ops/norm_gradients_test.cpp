#include "sdk/ops/norm/norm.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

TEST_CASE("gradients of normalizations agree with differences", "[ops][gradients]") {
  for (const bool affine : {true, false}) {
    INFO((affine ? "affine" : "plain"));
    GradientModel model;
    NormParameters p;
    if (affine) p = {&model.Add("weight", {4}), &model.Add("bias", {4})};
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return LayerNorm(context, x[0], p, 1e-5); },
                {Numbers({3, 5, 4}, 8)});
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return GroupNorm(context, x[0], p, 2, 1e-5); },
                {Numbers({2, 3, 2, 4}, 9)});
  }
}

// In evaluation mode the second call adds to the gradients of the first.
Var BatchNormTwice(Context& context, const Var& x, const BatchNormState& state) {
  return BatchNorm(context, BatchNorm(context, x, state), state);
}

TEST_CASE("gradients of batch norm in evaluation agree with differences", "[ops][gradients]") {
  for (const int flags : {0, 1, 2, 3, 4, 5, 6, 7}) {
    INFO(flags);
    GradientModel model;
    model.environment.context().set_training(false);
    BatchNormState state;
    state.running_mean = &model.Add("running_mean", {3});
    state.running_variance = &model.Add("running_var", {3}, 0.5);
    if ((flags & 1) != 0) state.parameters.weight = &model.Add("weight", {3});
    if ((flags & 2) != 0) state.parameters.bias = &model.Add("bias", {3});
    for (const auto& parameter : model.parameters) {
      parameter->trainable = !parameter->name.starts_with("running");
    }
    state.relu = (flags & 4) != 0;
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return BatchNormTwice(context, x[0], state); },
                {Numbers({4, 2, 2, 3}, 11)});
    // Nothing but the input is trained: it need not be kept.
    for (const auto& parameter : model.parameters) parameter->trainable = false;
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return BatchNorm(context, x[0], state); },
                {Numbers({1, 3}, 12)});
  }
}

TEST_CASE("gradients of batch norm agree with differences", "[ops][gradients]") {
  for (const bool affine : {true, false}) {
    for (const bool relu : {true, false}) {
      INFO((affine ? "affine" : "plain") << (relu ? " with relu" : ""));
      GradientModel model;
      BatchNormState state;
      if (affine) state.parameters = {&model.Add("weight", {3}), &model.Add("bias", {3})};
      state.running_mean = &model.Add("running_mean", {3});
      state.running_variance = &model.Add("running_var", {3}, 0.5);
      for (const auto& parameter : model.parameters) {
        parameter->trainable = !parameter->name.starts_with("running");
      }
      state.relu = relu;
      model.Check([&](Context& context,
                      const std::vector<Var>& x) { return BatchNorm(context, x[0], state); },
                  {Numbers({4, 2, 2, 3}, 10)});
    }
  }
}

}  // namespace
}  // namespace frugal::testing

#include "layers/conv2d.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/loss.h"
#include "sdk/ops/norm.h"
#include "sdk/ops/pool.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

// Every operation's backward against central differences in f64.
namespace frugal::test {
namespace {

constexpr double kTolerance = 1e-6;

Tensor Numbers(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  return RandomTensor(shape, seed, DType::kF64, low, high);
}

// Numbers that are all at least `gap` apart and away from zero, so that no kink lies within a
// difference.
Tensor Separated(const Shape& shape, std::uint64_t seed) {
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

struct Model {
  TestWorld world{kReferenceF64};
  std::vector<std::unique_ptr<Parameter>> parameters;

  const Parameter& Add(const std::string& name, const Shape& shape, double low = -1) {
    const Initializer initializer = Initializer::Uniform(low, 1);
    parameters.push_back(std::make_unique<Parameter>(
        Parameter{.name = name, .path = name, .shape = shape, .initializer = initializer}));
    parameters.back()->index = parameters.size() - 1;
    return *parameters.back();
  }

  void Check(const CheckedFunction& function, const std::vector<Tensor>& inputs) {
    world.store().ClearGradients();
    std::vector<OutsideLeaf> leaves;
    for (const auto& parameter : parameters) {
      if (parameter->trainable) leaves.push_back(LeafOf(world, *parameter));
    }
    const auto errors = FiniteDifferenceErrors(world.context(), function, inputs, leaves);
    REQUIRE(errors.size() == inputs.size() + leaves.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      INFO("leaf " << i << " of " << inputs.size() << " inputs and then parameters");
      CHECK(errors[i] < kTolerance);
    }
  }
};

TEST_CASE("gradients of linear agree with differences", "[ops][gradients]") {
  for (std::size_t kind = 0; kind < kActivationCount; ++kind) {
    const auto activation = static_cast<Activation>(kind);
    INFO(NameOf(activation));
    Model model;
    const Parameter& weight = model.Add("weight", {4, 3});
    const Parameter& bias = model.Add("bias", {4});
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return Linear(context, x[0], weight, &bias, activation);
        },
        {Numbers({2, 3, 3}, 1)});
  }
}

TEST_CASE("gradients of linear without bias agree with differences", "[ops][gradients]") {
  Model model;
  const Parameter& weight = model.Add("weight", {4, 3});
  model.Check([&](Context& context,
                  const std::vector<Var>& x) { return Linear(context, x[0], weight, nullptr); },
              {Numbers({5, 3}, 2)});
}

TEST_CASE("gradients of a weight used twice add up", "[ops][gradients]") {
  Model model;
  const Parameter& weight = model.Add("weight", {3, 3});
  const Parameter& bias = model.Add("bias", {3});
  model.Check(
      [&](Context& context, const std::vector<Var>& x) {
        const Var once = Linear(context, x[0], weight, &bias, Activation::kTanh);
        return Add(context, Linear(context, once, weight, &bias), x[0]);
      },
      {Numbers({4, 3}, 3)});
}

TEST_CASE("gradients of activations agree with differences", "[ops][gradients]") {
  for (std::size_t kind = 0; kind < kActivationCount; ++kind) {
    const auto activation = static_cast<Activation>(kind);
    INFO(NameOf(activation));
    Model model;
    // Up to +-5: past the bends of hardswish at +-3, and no value on a bend.
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Activate(context, x[0], activation); },
                {Separated({5, 41}, 4)});
  }
}

TEST_CASE("gradients of activations with parameters agree with differences", "[ops][gradients]") {
  for (const Activation activation : {Activation::kElu, Activation::kLeakyRelu}) {
    Model model;
    const ActivationFunction function(activation, 0.3);
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return Activate(context, x[0], function); },
                {Separated({3, 11}, 5)});
  }
}

struct ConvCase {
  std::string name;
  Shape input;
  Shape weight;
  WindowOptions window;
  std::int64_t groups = 1;
  Activation activation = Activation::kIdentity;
  bool bias = true;
};

const std::vector<ConvCase>& ConvCases() {
  static const std::vector<ConvCase> cases = {
      {"3x3 padded", {2, 5, 4, 3}, {2, 3, 3, 3},
       {.kernel = {1, 3, 3}, .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}}},
      {"strided with relu", {2, 5, 6, 2}, {3, 2, 3, 2},
       {.kernel = {1, 3, 2}, .stride = {1, 2, 2}, .padding_begin = {0, 1, 0},
        .padding_end = {0, 1, 0}}, 1, Activation::kTanh},
      {"grouped", {2, 4, 4, 4}, {6, 2, 3, 3},
       {.kernel = {1, 3, 3}, .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}}, 2},
      {"depthwise with gelu", {1, 5, 5, 3}, {3, 1, 3, 3}, {.kernel = {1, 3, 3}}, 3,
       Activation::kGelu, false},
      {"dilated, padded on one side", {1, 6, 6, 2}, {2, 2, 2, 2},
       {.kernel = {1, 2, 2}, .padding_begin = {0, 1, 0}, .padding_end = {0, 0, 2},
        .dilation = {1, 2, 3}}},
      {"1x1", {2, 3, 3, 4}, {2, 4, 1, 1}, {}},
      {"signal", {2, 7, 3}, {2, 3, 3},
       {.kernel = {1, 1, 3}, .stride = {1, 1, 2}, .padding_begin = {0, 0, 1},
        .padding_end = {0, 0, 1}}},
      {"volume", {1, 3, 4, 3, 2}, {2, 2, 2, 3, 2}, {.kernel = {2, 3, 2}}}};
  return cases;
}

TEST_CASE("gradients of convolution agree with differences", "[ops][gradients]") {
  for (const ConvCase& one : ConvCases()) {
    INFO(one.name);
    Model model;
    const Parameter& weight = model.Add("weight", one.weight);
    const Parameter* bias = one.bias ? &model.Add("bias", {one.weight[0]}) : nullptr;
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return Convolution(context, x[0], weight, bias, one.window, one.groups, one.activation);
        },
        {Numbers(one.input, 6)});
  }
}

TEST_CASE("gradients of pooling agree with differences", "[ops][gradients]") {
  const WindowOptions overlapping{.kernel = {1, 3, 3}, .stride = {1, 2, 1},
                                  .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}};
  const std::vector<Tensor> input = {Separated({2, 6, 5, 3}, 7)};
  Model model;
  model.Check([&](Context& context,
                  const std::vector<Var>& x) { return MaxPool(context, x[0], overlapping); },
              input);
  for (const bool count_padding : {true, false}) {
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return AveragePool(context, x[0], overlapping, count_padding);
        },
        input);
  }
  for (const Spatial& output : {Spatial{1, 1, 1}, Spatial{1, 4, 3}, Spatial{1, 7, 5}}) {
    model.Check([&](Context& context,
                    const std::vector<Var>& x) { return AdaptiveAveragePool(context, x[0], output); },
                input);
  }
}

TEST_CASE("gradients of normalizations agree with differences", "[ops][gradients]") {
  for (const bool affine : {true, false}) {
    INFO((affine ? "affine" : "plain"));
    Model model;
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

TEST_CASE("gradients of batch norm agree with differences", "[ops][gradients]") {
  for (const bool affine : {true, false}) {
    for (const bool relu : {true, false}) {
      INFO((affine ? "affine" : "plain") << (relu ? " with relu" : ""));
      Model model;
      BatchNormState state;
      if (affine) state.parameters = {&model.Add("weight", {3}, 0.5), &model.Add("bias", {3})};
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

TEST_CASE("gradients of sums, dropout, flatten, permute and reshape agree with differences",
          "[ops][gradients]") {
  Model model;
  const std::vector<Tensor> two = {Numbers({2, 3, 4}, 11), Numbers({2, 3, 4}, 12)};
  model.Check(
      [](Context& context, const std::vector<Var>& x) {
        // Each input several times: gradients are shared between slots and summed.
        const Var sum = Add(context, x[0], x[1]);
        return Add(context, Add(context, sum, sum), Activate(context, x[0], Activation::kSilu));
      },
      two);
  model.Check([](Context& context,
                 const std::vector<Var>& x) { return Dropout(context, x[0], 0.4, "here"); },
              {two[0]});
  model.Check([](Context& context, const std::vector<Var>& x) { return Flatten(context, x[0]); },
              {Numbers({2, 3, 2, 4}, 13)});
  model.Check(
      [](Context& context, const std::vector<Var>& x) { return Permute(context, x[0], {2, 0, 1}); },
      {two[0]});
  model.Check(
      [](Context& context, const std::vector<Var>& x) { return Reshape(context, x[0], {6, 4}); },
      {two[0]});
}

TEST_CASE("gradients of softmax agree with differences", "[ops][gradients]") {
  Model model;
  const std::vector<Tensor> input = {Numbers({2, 3, 5}, 14, -3, 3)};
  model.Check([](Context& context, const std::vector<Var>& x) { return Softmax(context, x[0]); },
              input);
  model.Check([](Context& context, const std::vector<Var>& x) { return LogSoftmax(context, x[0]); },
              input);
}

TEST_CASE("gradients of cross entropy agree with differences", "[ops][gradients]") {
  const Tensor targets = MakeTensor<int>({4}, {1, 0, 4, 2}, DType::kI64);
  for (const LossKernels::CrossEntropyOptions options :
       {LossKernels::CrossEntropyOptions{}, {0.1, -100}, {0.2, 4}}) {
    Model model;
    model.Check([&](Context& context, const std::vector<Var>& x) {
                  return CrossEntropy(context, x[0], targets, options);
                },
                {Numbers({4, 5}, 15, -3, 3)});
  }
}

TEST_CASE("gradients of regression losses agree with differences", "[ops][gradients]") {
  const Tensor targets = Numbers({4, 3}, 16, 0.1, 0.9);
  for (const Regression kind :
       {Regression::kMse, Regression::kL1, Regression::kHuber, Regression::kBceWithLogits}) {
    INFO(static_cast<int>(kind));
    Model model;
    model.Check([&](Context& context, const std::vector<Var>& x) {
                  return RegressionLoss(context, x[0], targets, kind, 0.4);
                },
                {Numbers({4, 3}, 17, -2, 2)});
  }
}

}  // namespace
}  // namespace frugal::test

#include "sdk/ops/spatial/pool.h"
#include "tests/ops/gradient_model.h"

namespace frugal::testing {
namespace {

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
      {"3x3 padded",
       {2, 5, 4, 3},
       {2, 3, 3, 3},
       {.kernel = {1, 3, 3}, .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}}},
      {"strided with relu",
       {2, 5, 6, 2},
       {3, 2, 3, 2},
       {.kernel = {1, 3, 2},
        .stride = {1, 2, 2},
        .padding_begin = {0, 1, 0},
        .padding_end = {0, 1, 0}},
       1,
       Activation::kTanh},
      {"grouped",
       {2, 4, 4, 4},
       {6, 2, 3, 3},
       {.kernel = {1, 3, 3}, .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}},
       2},
      {"depthwise with gelu",
       {1, 5, 5, 3},
       {3, 1, 3, 3},
       {.kernel = {1, 3, 3}},
       3,
       Activation::kGelu,
       false},
      {"dilated, padded on one side",
       {1, 6, 6, 2},
       {2, 2, 2, 2},
       {.kernel = {1, 2, 2},
        .padding_begin = {0, 1, 0},
        .padding_end = {0, 0, 2},
        .dilation = {1, 2, 3}}},
      {"1x1", {2, 3, 3, 4}, {2, 4, 1, 1}, {}},
      {"signal",
       {2, 7, 3},
       {2, 3, 3},
       {.kernel = {1, 1, 3},
        .stride = {1, 1, 2},
        .padding_begin = {0, 0, 1},
        .padding_end = {0, 0, 1}}},
      {"volume", {1, 3, 4, 3, 2}, {2, 2, 2, 3, 2}, {.kernel = {2, 3, 2}}}};
  return cases;
}

TEST_CASE("gradients of convolution agree with differences", "[ops][gradients]") {
  for (const ConvCase& one : ConvCases()) {
    INFO(one.name);
    GradientModel model;
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
  const WindowOptions overlapping{.kernel = {1, 3, 3},
                                  .stride = {1, 2, 1},
                                  .padding_begin = {0, 1, 1},
                                  .padding_end = {0, 1, 1}};
  const std::vector<Tensor> input = {Separated({2, 6, 5, 3}, 7)};
  GradientModel model;
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
  // As rounding up pads: a window that begins in the image's last row or column.
  const WindowOptions behind{.kernel = {1, 4, 3}, .stride = {1, 5, 4}, .padding_end = {0, 3, 2}};
  model.Check(
      [&](Context& context, const std::vector<Var>& x) { return MaxPool(context, x[0], behind); },
      input);
  model.Check([&](Context& context,
                  const std::vector<Var>& x) { return AveragePool(context, x[0], behind, false); },
              input);
  for (const Spatial& output : {Spatial{1, 1, 1}, Spatial{1, 4, 3}, Spatial{1, 7, 5}}) {
    model.Check(
        [&](Context& context, const std::vector<Var>& x) {
          return AdaptiveAveragePool(context, x[0], output);
        },
        input);
  }
}

}  // namespace
}  // namespace frugal::testing

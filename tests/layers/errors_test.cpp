#include <cmath>

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/residual.h"
#include "layers/simple_layers.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

// The exact sentences for what does not fit together.
namespace frugal::testing {
namespace {

using Made = std::unique_ptr<Layer>;

template <class LayerType, class... Arguments>
Made Make(const Arguments&... arguments) {
  return std::make_unique<LayerType>(arguments...);
}

void CheckRefused(Made made, const Shape& input, const std::string& sentence) {
  const Made layer = Ready(std::move(made), "features.3");
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const Tensor x = RandomTensor(input, 1, kind.dtype);
    const auto run = [&](Context& context, const Var& start) { return (*layer)(context, start); };
    CHECK_THROWS_AS(RunPass(environment, run, x), ShapeError);
    CHECK_THROWS_WITH(RunPass(environment, run, x), "[features.3] " + sentence);
    CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
    CHECK(environment.ledger().labels().NameOf(environment.ledger().label()) == "other");
  }
}

TEST_CASE("dense refuses another number of features", "[layers][errors]") {
  const std::string advice = "; change the layer's input size or flatten the input first";
  CheckRefused(Make<Dense>(3, DenseOptions{.units = 2}), {2, 4},
               "linear takes 3 features; the input is [2, 4]" + advice);
  CheckRefused(Make<Dense>(3, DenseOptions{.units = 2}), {},
               "linear takes 3 features; the input is []" + advice);
}

TEST_CASE("conv2d refuses what does not fit", "[layers][errors]") {
  const Conv2dOptions options{.filters = 3, .kernel = {5, 3}, .dilation = {1, 2}};
  CheckRefused(Make<Conv2d>(3, options), {1, 8, 8, 2},
               "convolution takes 3 channels; the input is [1, 8, 8, 2]; "
               "change the layer's input "
               "channels");
  CheckRefused(Make<Conv2d>(3, options), {1, 8, 4, 3},
               "a kernel that reaches over 5 positions fits into the padded "
               "input of 4; the input "
               "is [1, 8, 4, 3]; use a smaller kernel or stride before it, or "
               "more padding");
  CheckRefused(
      Make<Conv2d>(3, options), {4, 3},
      "conv2d takes [N, H, W, C]; the input is [4, 3]; put it where the input still has its "
      "positions, e.g. before flatten");
}

TEST_CASE("pooling refuses what does not fit", "[layers][errors]") {
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    CheckRefused(Make<Pool2d>(kind, Pool2dOptions{.kernel = {5}}), {1, 4, 4, 3},
                 "a kernel that reaches over 5 positions fits into the padded "
                 "input of 4; the "
                 "input is [1, 4, 4, 3]; use a smaller kernel or stride before "
                 "it, or more padding");
    CheckRefused(Make<Pool2d>(kind, Pool2dOptions{.kernel = {2}, .padding = {2}}), {1, 4, 4, 3},
                 "pooling pads by at most half its kernel; the input is [1, 4, 4, 3]; "
                 "use less "
                 "padding: some windows would lie outside the image");
  }
  CheckRefused(Make<AdaptiveAveragePool2d>(AdaptivePool2dOptions{}), {4, 3},
               "a window slides over [N, spatial..., C] with 1 to 3 spatial "
               "axes; the input is "
               "[4, 3]; give images as [N, H, W, C]");
}

TEST_CASE("norms refuse other channels and too few values", "[layers][errors]") {
  CheckRefused(Make<LayerNormLayer>(3, LayerNormOptions{}), {2, 4},
               "layer norm takes 3 features; the input is [2, 4]; change the "
               "layer's size");
  CheckRefused(Make<BatchNormLayer>(4, BatchNormOptions{}), {2, 3, 8},
               "batch norm takes 4 channels; the input is [2, 3, 8]; change "
               "the layer's size");
  CheckRefused(Make<BatchNormLayer>(4, BatchNormOptions{}), {1, 4},
               "batch norm needs at least two values per channel in training; "
               "the input is "
               "[1, 4]; use a larger batch, or layer or group norm");
  CheckRefused(Make<GroupNormLayer>(4, GroupNormOptions{.groups = 2}), {2, 3, 8},
               "group norm takes 4 channels; the input is [2, 3, 8]; change "
               "the layer's size");
  CheckRefused(Make<GroupNormLayer>(4, GroupNormOptions{.groups = 2, .affine = false}), {2, 3, 5},
               "group norm takes 4 values at each position; the input is [2, 3, 5]; change the "
               "layer's size");
}

TEST_CASE("flatten and residual refuse what does not fit", "[layers][errors]") {
  CheckRefused(Make<FlattenLayer>(), {4},
               "flatten takes [N, ...]; the input is [4]; leave the layer out");
  const Made flatten = Ready(Make<FlattenLayer>());
  TestEnvironment environment(kReferenceF64);
  const Tensor none = RandomTensor({4, 3, 0}, 1, DType::kF64);
  CHECK((*flatten)(environment.context(), {none}).shape() == Shape({4, 0}));
  auto body = std::make_unique<Sequential>();
  body->Append("0", Make<Dense>(3, DenseOptions{.units = 4}));
  CheckRefused(std::make_unique<Residual>(std::move(body), nullptr, ResidualOptions{}), {2, 3},
               "a sum takes two tensors of one shape, here [2, 4]; the input is [2, 3]; "
               "make both "
               "branches end in the same shape, e.g. with a shortcut");
}

template <class Function>
void CheckConfigError(const Function& make, const std::string& sentence) {
  CHECK_THROWS_AS(make(), ConfigError);
  CHECK_THROWS_WITH(make(), sentence);
}

TEST_CASE("windows refuse extents out of range", "[layers][errors]") {
  const std::string advice = "; give one number for both axes, or [height, width]";
  const auto conv = [](const Conv2dOptions& options) {
    return [=] { return Make<Conv2d>(3, options); };
  };
  CheckConfigError(conv({.filters = 3}),
                   "[conv2d] kernel takes one or two numbers; [] was given" + advice);
  CheckConfigError(conv({.filters = 3, .kernel = {1, 2, 3}}),
                   "[conv2d] kernel takes one or two numbers; [1, 2, 3] was given" + advice);
  CheckConfigError(conv({.filters = 3, .kernel = {3, 0}}),
                   "[conv2d] kernel is at least 1; [3, 0] was given" + advice);
  CheckConfigError(conv({.filters = 3, .kernel = {3}, .stride = {0}}),
                   "[conv2d] stride is at least 1; [0] was given" + advice);
  CheckConfigError(conv({.filters = 3, .kernel = {3}, .padding = {-1}}),
                   "[conv2d] padding is at least 0; [-1] was given" + advice);
  CheckConfigError(conv({.filters = 3, .kernel = {3}, .dilation = {0}}),
                   "[conv2d] dilation is at least 1; [0] was given" + advice);
  CheckConfigError([] { return Make<Pool2d>(PoolKind::kMax, Pool2dOptions{}); },
                   "[pooling] kernel takes one or two numbers; [] was given" + advice);
}

TEST_CASE("images have two spatial axes at least", "[layers][errors]") {
  const std::string given = "; the input is [1, 4, 3]; give images as [N, H, W, C]";
  const std::string window = "the window slides over more spatial axes than the input has";
  CheckRefused(Make<Conv2d>(3, Conv2dOptions{.filters = 3, .kernel = {3}}), {1, 4, 3},
               "conv2d takes [N, H, W, C]; the input is [1, 4, 3]; use conv1d for such an input");
  CheckRefused(Make<Pool2d>(PoolKind::kMax, Pool2dOptions{.kernel = {2}}), {1, 4, 3},
               window + given);
  CheckRefused(Make<AdaptiveAveragePool2d>(AdaptivePool2dOptions{.output = {2}}), {1, 4, 3},
               "adaptive pooling gives as many spatial axes as the input has" + given);
}

TEST_CASE("a layer has at least one output", "[layers][errors]") {
  for (const std::int64_t count : {0, -3}) {
    const std::string given = std::to_string(count);
    CheckConfigError(
        [=] { return Make<Dense>(3, DenseOptions{.units = count}); },
        "[dense] units is at least 1; units = " + given + "; say how many outputs the layer has");
    CheckConfigError(
        [=] { return Make<Conv2d>(3, Conv2dOptions{.filters = count, .kernel = {1}}); },
        "[conv2d] filters is at least 1; filters = " + given +
            "; say how many output channels the layer has");
  }
}

TEST_CASE("groups divide the channels, and rates are probabilities", "[layers][errors]") {
  for (const std::int64_t groups : {2, 0, -1}) {
    const std::string given = std::to_string(groups);
    CheckConfigError(
        [=] {
          return Make<Conv2d>(3, Conv2dOptions{.filters = 4, .kernel = {3}, .groups = groups});
        },
        "[conv2d] groups divide the input channels (3) and the filters (4); "
        "groups = " +
            given + "; choose a common divisor");
    CheckConfigError(
        [=] { return Make<GroupNormLayer>(5, GroupNormOptions{.groups = groups}); },
        "[group_norm] groups divide the 5 channels; groups = " + given + "; choose a divisor of 5");
  }
  for (const double rate : {1.0, -0.25, 2.0}) {
    char given[16];
    std::snprintf(given, sizeof given, "%g", rate);
    CheckConfigError([=] { return Make<DropoutLayer>(DropoutOptions{.rate = rate}); },
                     "[dropout] rate is a probability in [0, 1); rate = " + std::string(given) +
                         "; 0.1 to 0.5 is usual");
  }
  CHECK_THROWS_AS(Make<DropoutLayer>(DropoutOptions{.rate = std::nan("")}), ConfigError);
}

}  // namespace
}  // namespace frugal::testing

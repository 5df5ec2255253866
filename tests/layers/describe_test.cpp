#include "layers/describe.h"

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/simple_layers.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"

namespace frugal::testing {
namespace {

TEST_CASE("layers describe themselves in a line", "[layers]") {
  CHECK(Dense(3, {.units = 5, .activation = Activation::kRelu}).Describe() == "dense 3 -> 5, relu");
  CHECK(Dense(3, {.units = 5, .bias = false}).Describe() == "dense 3 -> 5, no bias");
  CHECK(Conv2d(32, {.filters = 64, .kernel = {3}, .padding = {1}, .activation = Activation::kRelu})
            .Describe() == "conv2d 32 -> 64, 3x3, stride 1, padding 1, relu");
  const Conv2dOptions odd{
      .filters = 8, .kernel = {3, 1}, .stride = {2, 1}, .dilation = {2}, .groups = 4};
  CHECK(Conv2d(4, odd).Describe() == "conv2d 4 -> 8, 3x1, stride 2x1, dilation 2, 4 groups");
  CHECK(Pool2d(PoolKind::kMax, {.kernel = {2}}).Describe() == "max_pool2d 2x2, stride 2");
  CHECK(Pool2d(PoolKind::kAverage, {.kernel = {3}, .stride = {2}, .padding = {1}}).Describe() ==
        "avg_pool2d 3x3, stride 2, padding 1");
  CHECK(AdaptiveAveragePool2d({.output = {2, 3}}).Describe() == "adaptive_avg_pool2d to 2x3");
  CHECK(BatchNormLayer(8, {.relu = true}).Describe() == "batch_norm 8 channels, relu");
  CHECK(LayerNormLayer(8, {}).Describe() == "layer_norm 8 features");
  CHECK(GroupNormLayer(8, {.groups = 4}).Describe() == "group_norm 8 channels in 4 groups");
  CHECK(ActivationLayer({.function = Activation::kGeluTanh}).Describe() == "gelu_tanh");
  CHECK(DropoutLayer({.rate = 0.25}).Describe() == "dropout 0.25");
  CHECK(FlattenLayer().Describe() == "flatten");
}

TEST_CASE("layers know their kind", "[layers]") {
  CHECK(Dense(3, {.units = 5}).kind() == LayerKind::kDense);
  CHECK(Conv2d(3, {.filters = 5, .kernel = {1}}).kind() == LayerKind::kConvolution);
  CHECK(Pool2d(PoolKind::kMax, {.kernel = {2}}).kind() == LayerKind::kPooling);
  CHECK(AdaptiveAveragePool2d({}).kind() == LayerKind::kPooling);
  CHECK(BatchNormLayer(8, {}).kind() == LayerKind::kNorm);
  CHECK(LayerNormLayer(8, {}).kind() == LayerKind::kNorm);
  CHECK(GroupNormLayer(8, {.groups = 4}).kind() == LayerKind::kNorm);
  CHECK(ActivationLayer({}).kind() == LayerKind::kActivation);
  CHECK(DropoutLayer({}).kind() == LayerKind::kDropout);
  CHECK(FlattenLayer().kind() == LayerKind::kReshape);
  CHECK(MakeSmallNetwork()->kind() == LayerKind::kSequential);
}

TEST_CASE("parameters have the paths of public checkpoints", "[layers]") {
  const auto network = Ready(MakeSmallNetwork(), "");
  std::vector<std::string> paths;
  for (const Parameter* parameter : network->Parameters()) paths.push_back(parameter->path);
  const std::vector<std::string> expected = {"0.weight",
                                             "0.bias",
                                             "1.weight",
                                             "1.bias",
                                             "1.running_mean",
                                             "1.running_var",
                                             "2.conv1.weight",
                                             "2.conv1.bias",
                                             "2.bn1.weight",
                                             "2.bn1.bias",
                                             "2.bn1.running_mean",
                                             "2.bn1.running_var",
                                             "2.conv2.weight",
                                             "2.conv2.bias",
                                             "2.shortcut.0.weight",
                                             "6.weight",
                                             "6.bias",
                                             "7.weight",
                                             "7.bias"};
  CHECK(paths == expected);
}

TEST_CASE("weights have the public layouts and their default start", "[layers]") {
  const auto weight = [](Layer&& layer) { return *layer.Parameters()[0]; };
  using Kind = Initializer::Kind;
  CHECK(weight(Dense(3, {.units = 5})).shape == Shape({5, 3}));
  CHECK(weight(Conv2d(4, {.filters = 6, .kernel = {3, 2}, .groups = 2})).shape ==
        Shape({6, 2, 3, 2}));
  CHECK(weight(Dense(3, {.units = 5})).initializer.kind == Kind::kXavierUniform);
  CHECK(weight(Dense(3, {.units = 5, .activation = Activation::kTanh})).initializer.kind ==
        Kind::kXavierUniform);
  CHECK(weight(Dense(3, {.units = 5, .activation = Activation::kRelu})).initializer.kind ==
        Kind::kHeNormal);
  CHECK(weight(Dense(3, {.units = 5, .initializer = Initializer::Orthogonal()})).initializer.kind ==
        Kind::kOrthogonal);
  CHECK(weight(Dense(3, {.units = 5})).trainable);
}

}  // namespace
}  // namespace frugal::testing

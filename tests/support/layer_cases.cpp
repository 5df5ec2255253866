#include "tests/support/layer_cases.h"

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/residual.h"
#include "layers/sequential.h"
#include "layers/simple_layers.h"
#include "tests/support/layer_case_families.h"

namespace frugal::testing {
namespace {

using Made = std::unique_ptr<Layer>;

Conv2dOptions Conv3x3(std::int64_t filters, ActivationFunction activation = {}) {
  return {.filters = filters, .kernel = {3}, .padding = {1}, .activation = activation};
}

std::unique_ptr<Sequential> Body(std::int64_t from, std::int64_t to) {
  auto body = std::make_unique<Sequential>();
  body->Append("conv1", std::make_unique<Conv2d>(from, Conv3x3(to, Activation::kRelu)));
  body->Append("bn1", std::make_unique<BatchNormLayer>(to, BatchNormOptions{.relu = true}));
  body->Append("conv2", std::make_unique<Conv2d>(to, Conv3x3(to)));
  return body;
}

std::unique_ptr<Sequential> Shortcut(std::int64_t from, std::int64_t to) {
  auto shortcut = std::make_unique<Sequential>();
  shortcut->Append("0", std::make_unique<Conv2d>(
                            from, Conv2dOptions{.filters = to, .kernel = {1}, .bias = false}));
  return shortcut;
}

std::unique_ptr<Residual> MakeResidual(std::int64_t from, std::int64_t to) {
  return std::make_unique<Residual>(Body(from, to), from == to ? nullptr : Shortcut(from, to),
                                    ResidualOptions{.activation = Activation::kRelu});
}

std::vector<LayerCase> PlainCases() {
  const Shape image = {3, 6, 5, 4};
  const Conv2dOptions grouped{.filters = 8,
                              .kernel = {3, 2},
                              .stride = {2, 1},
                              .padding = {1, 0},
                              .groups = 2,
                              .activation = Activation::kGelu,
                              .bias = false};
  return {
      {"dense", {3, 7}, {3, 5}, 40, Maker<Dense>(7, DenseOptions{.units = 5})},
      {"dense with relu",
       {2, 3, 4},
       {2, 3, 5},
       25,
       Maker<Dense>(4, DenseOptions{.units = 5, .activation = Activation::kRelu})},
      {"dense with gelu, no bias",
       {3, 4},
       {3, 6},
       24,
       Maker<Dense>(4, DenseOptions{.units = 6, .activation = Activation::kGelu, .bias = false})},
      {"conv2d", image, {3, 6, 5, 8}, 296, Maker<Conv2d>(4, Conv3x3(8, Activation::kRelu))},
      {"conv2d in groups", image, {3, 3, 4, 8}, 96, Maker<Conv2d>(4, grouped)},
      {"conv2d dilated",
       image,
       {3, 2, 1, 3},
       111,
       Maker<Conv2d>(4, Conv2dOptions{.filters = 3, .kernel = {3}, .dilation = {2}})},
      {"activation", image, image, 0,
       Maker<ActivationLayer>(ActivationOptions{.function = Activation::kSilu})},
      {"dropout", image, image, 0, Maker<DropoutLayer>(DropoutOptions{.rate = 0.3})},
      {"flatten", image, {3, 120}, 0, Maker<FlattenLayer>()},
  };
}

std::vector<LayerCase> PoolAndNormCases() {
  const Shape image = {3, 6, 5, 4};
  const Pool2dOptions halves{.kernel = {2}, .padding = {0}};
  const Pool2dOptions padded{.kernel = {3}, .stride = {2}, .padding = {1}, .count_padding = false};
  return {
      {"max_pool2d", image, {3, 3, 2, 4}, 0, Maker<Pool2d>(PoolKind::kMax, halves)},
      {"max_pool2d padded", image, {3, 3, 3, 4}, 0, Maker<Pool2d>(PoolKind::kMax, padded)},
      {"avg_pool2d", image, {3, 3, 2, 4}, 0, Maker<Pool2d>(PoolKind::kAverage, halves)},
      {"avg_pool2d padded", image, {3, 3, 3, 4}, 0, Maker<Pool2d>(PoolKind::kAverage, padded)},
      {"adaptive_avg_pool2d",
       image,
       {3, 2, 3, 4},
       0,
       Maker<AdaptiveAveragePool2d>(AdaptivePool2dOptions{.output = {2, 3}})},
      {"batch_norm", image, image, 8, Maker<BatchNormLayer>(4, BatchNormOptions{})},
      {"batch_norm with relu", image, image, 8,
       Maker<BatchNormLayer>(4, BatchNormOptions{.relu = true})},
      {"batch_norm plain", image, image, 0,
       Maker<BatchNormLayer>(4, BatchNormOptions{.affine = false})},
      {"layer_norm", image, image, 8, Maker<LayerNormLayer>(4, LayerNormOptions{})},
      {"layer_norm plain",
       {3, 7},
       {3, 7},
       0,
       Maker<LayerNormLayer>(7, LayerNormOptions{.affine = false})},
      {"group_norm", image, image, 8, Maker<GroupNormLayer>(4, GroupNormOptions{.groups = 2})},
      {"residual", image, image, 304, [] { return MakeResidual(4, 4); }},
      {"residual with shortcut", image, {3, 6, 5, 8}, 928, [] { return MakeResidual(4, 8); }},
      {"network", {3, 8, 8, 3}, {3, 5}, 1991, MakeSmallNetwork},
  };
}

}  // namespace

const std::vector<LayerCase>& LayerCases() {
  static const std::vector<LayerCase> cases = [] {
    std::vector<LayerCase> all = PlainCases();
    for (const auto family :
         {PoolAndNormCases, WindowLayerCases, SequenceLayerCases, TransformerLayerCases}) {
      for (LayerCase& one : family()) all.push_back(std::move(one));
    }
    return all;
  }();
  return cases;
}

std::unique_ptr<Layer> MakeSmallNetwork() {
  auto network = std::make_unique<Sequential>();
  network->Append("0", std::make_unique<Conv2d>(3, Conv3x3(4)));
  network->Append("1", std::make_unique<BatchNormLayer>(4, BatchNormOptions{.relu = true}));
  network->Append("2", MakeResidual(4, 8));
  network->Append("3", std::make_unique<Pool2d>(PoolKind::kMax, Pool2dOptions{.kernel = {2}}));
  network->Append("4", std::make_unique<DropoutLayer>(DropoutOptions{.rate = 0.25}));
  network->Append("5", std::make_unique<FlattenLayer>());
  network->Append(
      "6", std::make_unique<Dense>(128, DenseOptions{.units = 7, .activation = Activation::kRelu}));
  network->Append("7", std::make_unique<Dense>(7, DenseOptions{.units = 5}));
  return network;
}

std::unique_ptr<Layer> Ready(std::unique_ptr<Layer> layer, const std::string& path) {
  layer->AssignPaths(path);
  NumberParameters(*layer);
  return layer;
}

}  // namespace frugal::testing

#include "tests/oracles/resnet.h"

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/residual.h"
#include "layers/simple_layers.h"

namespace frugal::oracles {
namespace {

std::unique_ptr<Conv2d> Convolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                                    std::int64_t stride) {
  return std::make_unique<Conv2d>(from, Conv2dOptions{.filters = to,
                                                      .kernel = {kernel},
                                                      .stride = {stride},
                                                      .padding = {kernel / 2},
                                                      .bias = false});
}

std::unique_ptr<BatchNormLayer> Norm(std::int64_t channels, bool relu) {
  return std::make_unique<BatchNormLayer>(channels, BatchNormOptions{.relu = relu});
}

std::unique_ptr<Residual> BasicBlock(std::int64_t from, std::int64_t to, std::int64_t stride) {
  auto body = std::make_unique<Sequential>();
  body->Append("conv1", Convolution(from, to, 3, stride));
  body->Append("bn1", Norm(to, true));
  body->Append("conv2", Convolution(to, to, 3, 1));
  body->Append("bn2", Norm(to, false));
  std::unique_ptr<Sequential> shortcut;
  if (from != to) {
    shortcut = std::make_unique<Sequential>();
    shortcut->Append("0", Convolution(from, to, 1, stride));
    shortcut->Append("1", Norm(to, false));
  }
  return std::make_unique<Residual>(std::move(body), std::move(shortcut),
                                    ResidualOptions{.activation = Activation::kRelu});
}

}  // namespace

std::unique_ptr<Sequential> MakeResNet(std::int64_t width, std::int64_t classes) {
  auto net = std::make_unique<Sequential>();
  net->Append("conv1", Convolution(3, width, 7, 2));
  net->Append("bn1", Norm(width, true));
  net->Append("maxpool",
              std::make_unique<Pool2d>(
                  PoolKind::kMax, Pool2dOptions{.kernel = {3}, .stride = {2}, .padding = {1}}));
  net->Append("layer1.0", BasicBlock(width, width, 1));
  net->Append("layer2.0", BasicBlock(width, 2 * width, 2));
  net->Append("layer3.0", BasicBlock(2 * width, 4 * width, 2));
  net->Append("layer4.0", BasicBlock(4 * width, 8 * width, 2));
  net->Append("avgpool", std::make_unique<AdaptiveAveragePool2d>(AdaptivePool2dOptions{}));
  net->Append("flatten", std::make_unique<FlattenLayer>());
  net->Append("fc", std::make_unique<Dense>(8 * width, DenseOptions{.units = classes}));
  net->AssignPaths("");
  NumberParameters(*net);
  return net;
}

std::string PublicName(std::string path) {
  const std::string ours = "shortcut";
  const auto at = path.find(ours);
  return at == std::string::npos ? path : path.replace(at, ours.size(), "downsample");
}

}  // namespace frugal::oracles

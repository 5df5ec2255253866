#include "layers/architectures/resnet.h"

#include <array>

#include "layers/blocks/parts.h"
#include "layers/convolution.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/residual.h"
#include "layers/simple_layers.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using namespace architectures;

std::unique_ptr<Conv2d> MakeConvolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                                        std::int64_t stride = 1) {
  return std::make_unique<Conv2d>(from, Conv2dOptions{.filters = to,
                                                      .kernel = {kernel},
                                                      .stride = {stride},
                                                      .padding = {kernel / 2},
                                                      .bias = false,
                                                      .initializer = Initializer::HeNormal()});
}

std::unique_ptr<BatchNormLayer> MakeNorm(std::int64_t channels, bool relu) {
  return std::make_unique<BatchNormLayer>(channels, BatchNormOptions{.relu = relu});
}

struct BlockSizes {
  std::int64_t from = 0;   // channels in
  std::int64_t width = 0;  // of the 3x3 convolutions
  std::int64_t to = 0;     // channels out
  std::int64_t stride = 1;
};

std::unique_ptr<Sequential> MakeBasicBody(const BlockSizes& sizes) {
  auto body = std::make_unique<Sequential>();
  body->Append("conv1", MakeConvolution(sizes.from, sizes.width, 3, sizes.stride));
  body->Append("bn1", MakeNorm(sizes.width, true));
  body->Append("conv2", MakeConvolution(sizes.width, sizes.to, 3));
  body->Append("bn2", MakeNorm(sizes.to, false));
  return body;
}

std::unique_ptr<Sequential> MakeBottleneckBody(const BlockSizes& sizes) {
  auto body = std::make_unique<Sequential>();
  body->Append("conv1", MakeConvolution(sizes.from, sizes.width, 1));
  body->Append("bn1", MakeNorm(sizes.width, true));
  body->Append("conv2", MakeConvolution(sizes.width, sizes.width, 3, sizes.stride));
  body->Append("bn2", MakeNorm(sizes.width, true));
  body->Append("conv3", MakeConvolution(sizes.width, sizes.to, 1));
  body->Append("bn3", MakeNorm(sizes.to, false));
  return body;
}

std::unique_ptr<Residual> MakeBlock(ResNetBlock kind, const BlockSizes& sizes) {
  std::unique_ptr<Sequential> shortcut;
  if (sizes.from != sizes.to || sizes.stride != 1) {
    shortcut = std::make_unique<Sequential>();
    shortcut->Append("0", MakeConvolution(sizes.from, sizes.to, 1, sizes.stride));
    shortcut->Append("1", MakeNorm(sizes.to, false));
  }
  return std::make_unique<Residual>(
      kind == ResNetBlock::kBasic ? MakeBasicBody(sizes) : MakeBottleneckBody(sizes),
      std::move(shortcut),
      ResidualOptions{.activation = Activation::kRelu, .shortcut_name = "downsample"});
}

void AppendStem(Sequential& net, const ResNetConfig& config) {
  if (config.small_stem) {
    net.Append("conv1", MakeConvolution(config.in_channels, config.width, 3));
    net.Append("bn1", MakeNorm(config.width, true));
    return;
  }
  net.Append("conv1", MakeConvolution(config.in_channels, config.width, 7, 2));
  net.Append("bn1", MakeNorm(config.width, true));
  const Pool2dOptions pool{.kernel = {3}, .stride = {2}, .padding = {1}};
  net.Append("maxpool", std::make_unique<Pool2d>(PoolKind::kMax, pool));
}

void Check(const ResNetConfig& config) {
  CheckAtLeast("resnet", "width", config.width);
  CheckAtLeast("resnet", "num_classes", config.num_classes);
  CheckAtLeast("resnet", "in_channels", config.in_channels);
  CheckAtLeast("resnet", "layers", static_cast<std::int64_t>(config.layers.size()));
  for (const std::int64_t blocks : config.layers) CheckAtLeast("resnet", "layers", blocks);
}

}  // namespace

std::string_view NameOf(ResNetBlock block) {
  return block == ResNetBlock::kBasic ? "basic" : "bottleneck";
}

std::unique_ptr<Sequential> MakeResNet(const ResNetConfig& config) {
  Check(config);
  const std::int64_t expansion = config.block == ResNetBlock::kBasic ? 1 : 4;
  auto net = std::make_unique<Sequential>();
  AppendStem(*net, config);
  BlockSizes sizes{.from = config.width, .width = config.width};
  for (std::size_t stage = 0; stage < config.layers.size(); ++stage) {
    sizes.to = expansion * sizes.width;
    for (std::int64_t i = 0; i < config.layers[stage]; ++i) {
      sizes.stride = i == 0 && stage > 0 ? 2 : 1;
      net->Append("layer" + std::to_string(stage + 1) + "." + std::to_string(i),
                  MakeBlock(config.block, sizes));
      sizes.from = sizes.to;
    }
    sizes.width *= 2;
  }
  net->Append("avgpool", std::make_unique<AdaptiveAveragePool2d>(AdaptivePool2dOptions()));
  net->Append("flatten", std::make_unique<FlattenLayer>());
  net->Append("fc", std::make_unique<Dense>(sizes.from, DenseOptions{.units = config.num_classes}));
  return net;
}

namespace {

// ImageNet's images, or those that the small stem is for.
NominalSamples SamplesOf(const ResNetConfig& config) {
  const std::int64_t side = config.small_stem ? 32 : 224;
  return {.sample = {side, side, config.in_channels}, .classes = config.num_classes};
}

}  // namespace

ArchitectureFamily ResNetFamily() {
  using C = ResNetConfig;
  return FamilyRow<ResNetConfig>(
      "resnet",
      {MakeChoice("block", &C::block, "Two 3x3 convolutions, or 1x1, 3x3, 1x1.",
                  {{"basic", ResNetBlock::kBasic}, {"bottleneck", ResNetBlock::kBottleneck}}),
       MakeField("layers", &C::layers, "Blocks of each stage.",
                 {.min = 1, .max = 1000, .min_items = 1, .max_items = 16}),
       SizeField("width", &C::width, "Channels of the first stage."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       MakeField("small_stem", &C::small_stem, "A 3x3 stem without pooling, for small images.")},
      MakeResNet, SamplesOf);
}

}  // namespace frugal

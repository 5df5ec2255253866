#include "layers/architectures/controlnet.h"

#include <utility>

#include "layers/architectures/parts.h"
#include "layers/architectures/unet_layers.h"
#include "layers/architectures/unet_trunk_parts.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/boxes.h"
#include "sdk/ops/check.h"
#include "sdk/ops/elementwise.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "controlnet";

std::size_t HintAt(const UNetTrunkConfig& config) { return config.num_class_embeds > 0 ? 4 : 3; }

// A convolution, and a SiLU behind all but the last one, of the hint in the bundle.
class HintConvolution final : public BundleLayer {
 public:
  HintConvolution(std::size_t at, std::int64_t channels, const Conv2dOptions& options)
      : at_(at), convolution_(channels, options) {
    AddChild("", convolution_);
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return "hint, " + convolution_.Describe(); }

 private:
  void ForwardBundle(Context& context, Bundle& bundle) override {
    bundle[at_] = convolution_(context, std::exchange(bundle[at_], Var()));
  }

  std::size_t at_;
  Conv2d convolution_;
};

// {x, t, context, hint, ...} -> {x, c, context} and the first skip
class ControlNetEmbedding final : public BundleLayer {
 public:
  explicit ControlNetEmbedding(const UNetTrunkConfig& config)
      : config_(config),
        convolution_(config.in_channels, SameSize(config.block_out_channels[0])),
        time_(TrunkTime(config)) {
    AddChild("conv_in", convolution_);
    AddChild("", time_);
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return convolution_.Describe() + "; time, hint"; }

 private:
  void ForwardBundle(Context& context, Bundle& bundle) override {
    const Var c = time_(context, ConditionsIn(config_, bundle));
    const Var hint = std::exchange(bundle[HintAt(config_)], Var());
    Var x = convolution_(context, bundle[0]);
    if (!(x.shape() == hint.shape())) {
      ThrowShape(
          context,
          "what is made of 'hint' has the size of what is made of 'x', here " + ToString(x.shape()),
          hint.shape(), "give a hint whose height and width are x's times the factor");
    }
    x = Add(context, x, hint);
    bundle = {x, c, bundle[2], x};
  }

  UNetTrunkConfig config_;
  Conv2d convolution_;
  UNetTime time_;
};

// A 1x1 convolution of each skip and of x, side by side: {[N, total]}.
class ControlNetOutput final : public BundleLayer {
 public:
  // `channels` of each skip and of x
  explicit ControlNetOutput(const std::vector<std::int64_t>& channels) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      convolutions_.push_back(std::make_unique<Conv2d>(
          channels[i],
          Conv2dOptions{
              .filters = channels[i], .kernel = {1}, .initializer = Initializer::Zero()}));
      const bool last = i + 1 == channels.size();
      AddChild(last ? "controlnet_mid_block" : "controlnet_down_blocks." + std::to_string(i),
               *convolutions_.back());
    }
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override {
    return std::to_string(convolutions_.size()) + " residuals";
  }

 private:
  void ForwardBundle(Context& context, Bundle& bundle) override {
    bundle.push_back(std::exchange(bundle[0], Var()));
    std::vector<Var> residuals;
    const std::size_t first = bundle.size() - convolutions_.size();
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      const Var x = std::exchange(bundle[first + i], Var());
      residuals.push_back(Flatten(context, (*convolutions_[i])(context, x)));
    }
    bundle = {Concat(context, residuals, 1)};
  }

  std::vector<std::unique_ptr<Conv2d>> convolutions_;
};

std::vector<std::int64_t> ResidualChannels(const UNetSizes& sizes) {
  std::vector<std::int64_t> channels = {sizes.channels[0]};
  for (std::size_t stage = 0; stage < sizes.channels.size(); ++stage) {
    const bool last = stage + 1 == sizes.channels.size();
    channels.insert(channels.end(), static_cast<std::size_t>(sizes.layers[stage] + (last ? 0 : 1)),
                    sizes.channels[stage]);
  }
  channels.push_back(sizes.channels.back());
  return channels;
}

// All but the last convolution have a SiLU behind them.
void AppendHint(Sequential& net, const ControlNetConfig& config) {
  const std::vector<std::int64_t>& widths = config.conditioning_embedding_out_channels;
  const std::string path = "controlnet_cond_embedding.";
  const auto append = [&](const std::string& name, std::int64_t channels, Conv2dOptions options) {
    net.Append(path + name, std::make_unique<HintConvolution>(HintAt(config), channels, options));
  };
  Conv2dOptions options = SameSize(widths[0]);
  options.activation = Activation::kSilu;
  append("conv_in", config.conditioning_channels, options);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    options.filters = widths[i];
    options.stride = {1};
    append("blocks." + std::to_string(2 * i), widths[i], options);
    options.filters = widths[i + 1];
    options.stride = {2};
    append("blocks." + std::to_string(2 * i + 1), widths[i], options);
  }
  options = SameSize(config.block_out_channels[0]);
  options.initializer = Initializer::Zero();
  append("conv_out", widths.back(), options);
}

NetworkInputs InputsOf(const ControlNetConfig& config) {
  NetworkInputs inputs = TrunkInputs(config);
  const std::int64_t factor = DownsamplingOf(config.conditioning_embedding_out_channels.size());
  const std::int64_t multiple = factor * DownsamplingOf(config.block_out_channels.size());
  const std::int64_t side = factor * config.sample_size;
  inputs.push_back({.name = "hint",
                    .role = InputRole::kValues,
                    .shape = {side, side, config.conditioning_channels},
                    .free_axes = {0, 1},
                    .multiples = {multiple, multiple, 1}});
  for (NetworkInput& input : AddedInputs(config)) inputs.push_back(std::move(input));
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeControlNet(const ControlNetConfig& config) {
  CheckTrunk(kFamily, config);
  CheckAtLeast(kFamily, "conditioning_channels", config.conditioning_channels);
  CheckStages(kFamily, "conditioning_embedding_out_channels",
              config.conditioning_embedding_out_channels);
  const UNetSizes sizes = TrunkSizes(kFamily, config);
  CheckTrunkHeads(kFamily, config, sizes);
  const TrunkParts parts(kFamily, config);
  auto net = std::make_unique<Sequential>();
  AppendHint(*net, config);
  net->AppendUnnamed("embedder", std::make_unique<ControlNetEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, MiddleOf(config));
  net->AppendUnnamed("output", std::make_unique<ControlNetOutput>(ResidualChannels(sizes)));
  net->SetInputs(InputsOf(config));
  return net;
}

}  // namespace frugal

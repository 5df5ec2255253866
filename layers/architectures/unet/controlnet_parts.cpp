#include "layers/architectures/unet/controlnet_parts.h"

#include <utility>

#include "layers/architectures/unet/unet_layers.h"
#include "layers/blocks/parts.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"

namespace frugal::architectures {
namespace {

struct HintRange {
  std::size_t first = 0;
  std::size_t count = 1;
};

// A convolution, and a SiLU behind all but the last one, of each hint in the tuple.
class HintConvolution final : public TupleLayer {
 public:
  HintConvolution(const HintRange& hints, std::int64_t channels, const Conv2dOptions& options)
      : hints_(hints), convolution_(channels, options) {
    AddChild("", convolution_);
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override {
    const std::string many = hints_.count == 1 ? "" : std::to_string(hints_.count) + " times ";
    return many + "hint, " + convolution_.Describe();
  }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    for (std::size_t i = 0; i < hints_.count; ++i) {
      Var& hint = vars[hints_.first + i];
      hint = convolution_(context, std::exchange(hint, Var()));
    }
  }

  HintRange hints_;
  Conv2d convolution_;
};

class ControlNetOutput final : public TupleLayer {
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
  void ForwardTuple(Context& context, VarTuple& vars) override {
    vars.push_back(std::exchange(vars[0], Var()));
    std::vector<Var> residuals;
    const std::size_t first = vars.size() - convolutions_.size();
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      const Var x = std::exchange(vars[first + i], Var());
      residuals.push_back(Flatten(context, (*convolutions_[i])(context, x)));
    }
    vars = {Concat(context, residuals, 1)};
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

}  // namespace

void CheckHints(const char* family, const ControlNetConfig& config) {
  CheckAtLeast(family, "conditioning_channels", config.conditioning_channels);
  CheckStages(family, "conditioning_embedding_out_channels",
              config.conditioning_embedding_out_channels);
}

std::size_t FirstHintAt(const UNetTrunkConfig& config) {
  return config.num_class_embeds > 0 ? 4 : 3;
}

std::string HintName(std::int64_t type) { return "hint_" + std::to_string(type); }

NetworkInput HintInput(const ControlNetConfig& config, const std::string& name) {
  const std::int64_t factor = DownsamplingOf(config.conditioning_embedding_out_channels.size());
  const std::int64_t multiple = factor * DownsamplingOf(config.block_out_channels.size());
  const std::int64_t side = factor * config.sample_size;
  return {.name = name,
          .role = InputRole::kValues,
          .shape = {side, side, config.conditioning_channels},
          .free_axes = {0, 1},
          .multiples = {multiple, multiple, 1}};
}

void AppendHintConvolutions(Sequential& net, const ControlNetConfig& config, std::size_t count) {
  const std::vector<std::int64_t>& widths = config.conditioning_embedding_out_channels;
  const HintRange hints{.first = FirstHintAt(config), .count = count};
  const std::string path = "controlnet_cond_embedding.";
  const auto append = [&](const std::string& name, std::int64_t channels, Conv2dOptions options) {
    net.Append(path + name, std::make_unique<HintConvolution>(hints, channels, options));
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

void CheckHintFits(Context& context, const std::string& name, const Var& x, const Var& hint) {
  if (x.shape() == hint.shape()) return;
  ThrowShape(context,
             "what is made of '" + name + "' has the size of what is made of 'x', here " +
                 ToString(x.shape()),
             hint.shape(), "give a hint whose height and width are x's times the factor");
}

void AppendResiduals(Sequential& net, const UNetSizes& sizes) {
  net.AppendUnnamed("output", std::make_unique<ControlNetOutput>(ResidualChannels(sizes)));
}

}  // namespace frugal::architectures

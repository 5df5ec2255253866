#include "layers/architectures/unet_condition.h"

#include "layers/architectures/parts.h"
#include "layers/architectures/unet_layers.h"
#include "layers/architectures/unet_trunk_parts.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "unet_condition";

// {x, t, context, ...} -> {x, c, context} and the first skip
class UNetConditionEmbedding final : public BundleLayer {
 public:
  explicit UNetConditionEmbedding(const UNetTrunkConfig& config)
      : config_(config),
        convolution_(config.in_channels, SameSize(config.block_out_channels[0])),
        time_(TrunkTime(config)) {
    AddChild("conv_in", convolution_);
    AddChild("", time_);
  }

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return convolution_.Describe() + "; time"; }

 private:
  void ForwardBundle(Context& context, Bundle& bundle) override {
    const Var c = time_(context, ConditionsIn(config_, bundle));
    const Var x = convolution_(context, bundle[0]);
    bundle = {x, c, bundle[2], x};
  }

  UNetTrunkConfig config_;
  Conv2d convolution_;
  UNetTime time_;
};

UNetSizes SizesOf(const UNetConditionConfig& config) {
  UNetSizes sizes = TrunkSizes(kFamily, config);
  sizes.up_attends = AttendingStages(kFamily, "up_block_types", config.up_block_types,
                                     sizes.channels.size(), "UpBlock2D", "CrossAttnUpBlock2D");
  CheckTrunkHeads(kFamily, config, sizes);
  return sizes;
}

}  // namespace

std::unique_ptr<Sequential> MakeUNetCondition(const UNetConditionConfig& config) {
  CheckTrunk(kFamily, config);
  CheckAtLeast(kFamily, "out_channels", config.out_channels);
  const UNetSizes sizes = SizesOf(config);
  const TrunkParts parts(kFamily, config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<UNetConditionEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, MiddleOf(config));
  AppendUp(*net, sizes, parts);
  net->AppendUnnamed("output", std::make_unique<UNetOutput>(
                                   UNetOutputOptions{.inputs = config.block_out_channels[0],
                                                     .outputs = config.out_channels,
                                                     .groups = config.norm_num_groups,
                                                     .epsilon = config.norm_eps}));
  NetworkInputs inputs = TrunkInputs(config);
  for (NetworkInput& input : AddedInputs(config)) inputs.push_back(std::move(input));
  net->SetInputs(std::move(inputs));
  return net;
}

}  // namespace frugal

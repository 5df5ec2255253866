#include "layers/architectures/unet/controlnet.h"

#include <utility>

#include "layers/architectures/unet/controlnet_parts.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/architectures/unet/unet_trunk_parts.h"
#include "sdk/ops/elementwise.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "controlnet";

// {x, t, context, hint, ...} -> {x, c, context} and the first skip
class ControlNetEmbedding final : public TupleLayer {
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
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var c = time_(context, ConditionsIn(config_, vars));
    const Var hint = std::exchange(vars[FirstHintAt(config_)], Var());
    Var x = convolution_(context, vars[0]);
    CheckHintFits(context, "hint", x, hint);
    x = Add(context, x, hint);
    vars = {x, c, vars[2]};
    PushSkip(vars, x);
  }

  UNetTrunkConfig config_;
  Conv2d convolution_;
  UNetTime time_;
};

NetworkInputs InputsOf(const ControlNetConfig& config) {
  NetworkInputs inputs = TrunkInputs(config);
  inputs.push_back(HintInput(config, "hint"));
  for (NetworkInput& input : AddedInputs(config)) inputs.push_back(std::move(input));
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeControlNet(const ControlNetConfig& config) {
  CheckTrunk(kFamily, config);
  CheckHints(kFamily, config);
  const UNetSizes sizes = TrunkSizes(kFamily, config);
  CheckTrunkHeads(kFamily, config, sizes);
  const TrunkParts parts(kFamily, config);
  auto net = std::make_unique<Sequential>();
  AppendHintConvolutions(*net, config, 1);
  net->AppendUnnamed("embedder", std::make_unique<ControlNetEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, MiddleOf(config));
  AppendResiduals(*net, sizes);
  net->SetInputs(InputsOf(config));
  return net;
}

}  // namespace frugal

#include "layers/architectures/unet/controlnet.h"

#include <utility>

#include "layers/architectures/unet/controlnet_parts.h"
#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/architectures/unet/unet_trunk_parts.h"
#include "layers/types/family_row.h"
#include "sdk/ops/elementwise.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "controlnet";

// {x, t, context, hint, ...} -> {x, c, context} and the first skip
class ControlNetEmbedding final : public UNetStem<UNetTime> {
 public:
  explicit ControlNetEmbedding(const UNetTrunkConfig& config)
      : UNetStem(config.in_channels, config.block_out_channels[0], TrunkTime(config), "time, hint"),
        config_(config) {}

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var c = embedding()(context, ConditionsIn(config_, vars));
    const Var hint = std::exchange(vars[FirstHintAt(config_)], Var());
    Var x = convolution()(context, vars[0]);
    CheckHintFits(context, "hint", x, hint);
    x = Add(context, x, hint);
    vars = {x, c, vars[2]};
    PushSkip(vars, x);
  }

  UNetTrunkConfig config_;
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

ArchitectureFamily ControlNetFamily() {
  return FamilyRow<ControlNetConfig>("controlnet", HintedFields(), MakeControlNet);
}

}  // namespace frugal

#include "layers/architectures/unet/unet_condition.h"

#include <array>
#include <optional>

#include "layers/architectures/unet/face_tokens.h"
#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/architectures/unet/unet_trunk_parts.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "unet_condition";

// A tuple as ConditionsIn takes it: what stands in for a context that is skipped is not read.
void FillContext(const UNetConditionConfig& config, VarTuple& vars) {
  if (config.skip_cross_attention) vars.insert(vars.begin() + 2, vars[1]);
}

// {x, t, context, ...} -> {x, c, context} and the first skip
class UNetConditionEmbedding final : public UNetStem<UNetTime> {
 public:
  explicit UNetConditionEmbedding(const UNetConditionConfig& config)
      : UNetStem(config.in_channels, config.block_out_channels[0], TrunkTime(config), "time"),
        config_(config) {
    if (config.ip_adapter_tokens == 0) return;
    face_.emplace(FaceTokensOptions{.inputs = config.ip_adapter_embed_dim,
                                    .tokens = config.ip_adapter_tokens,
                                    .features = config.cross_attention_dim[0]});
    AddChild("encoder_hid_proj.image_projection_layers.0", *face_);
  }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    FillContext(config_, vars);
    const Var c = embedding()(context, ConditionsIn(config_, vars));
    const Var x = convolution()(context, vars[0]);
    vars = {x, c, ContextOf(context, vars)};
    PushSkip(vars, x);
  }

  // The text, and the tokens of a face behind it.
  Var ContextOf(Context& context, const VarTuple& vars) {
    if (!face_) return vars[2];
    const Var& face = vars[config_.num_class_embeds > 0 ? 4 : 3];
    return Concat(context, std::array{vars[2], (*face_)(context, face)}, 1);
  }

  UNetConditionConfig config_;
  std::optional<FaceTokens> face_;
};

NetworkInputs InputsOf(const UNetConditionConfig& config) {
  NetworkInputs inputs = TrunkInputs(config);
  if (config.skip_cross_attention) inputs.erase(inputs.begin() + 2);
  if (config.ip_adapter_tokens > 0) {
    inputs.push_back({.name = "image_embeds",
                      .role = InputRole::kValues,
                      .shape = {config.ip_adapter_embed_dim}});
  }
  for (NetworkInput& input : AddedInputs(config)) inputs.push_back(std::move(input));
  return inputs;
}

void CheckContextUse(const UNetConditionConfig& config) {
  CheckAtLeast(kFamily, "ip_adapter_tokens", config.ip_adapter_tokens, 0);
  CheckAtLeast(kFamily, "ip_adapter_embed_dim", config.ip_adapter_embed_dim);
  if (!config.skip_cross_attention) return;
  const bool adapter = config.ip_adapter_tokens > 0;
  if (!adapter && !config.only_cross_attention) return;
  throw ConfigError(
      {.where = std::string(kFamily) + ".skip_cross_attention",
       .required = "nothing attends to a context that there is not",
       .given = adapter ? "ip_adapter_tokens = " + std::to_string(config.ip_adapter_tokens)
                        : "only_cross_attention = true",
       .advice = "leave one of the two out"});
}

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
  CheckContextUse(config);
  const UNetSizes sizes = SizesOf(config);
  const TrunkParts parts(
      kFamily, config,
      {.skipped = config.skip_cross_attention, .image_tokens = config.ip_adapter_tokens});
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<UNetConditionEmbedding>(config));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, MiddleOf(config));
  AppendUp(*net, sizes, parts);
  AppendOutput(*net, {.inputs = config.block_out_channels[0],
                      .outputs = config.out_channels,
                      .groups = config.norm_num_groups,
                      .eps = config.norm_eps});
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily UNetConditionFamily() {
  using C = UNetConditionConfig;
  std::vector<Field> fields = TrunkFields();
  fields.push_back(SizeField("out_channels", &C::out_channels, "Of what is predicted."));
  fields.push_back(MakeField(
      "up_block_types", &C::up_block_types,
      "UpBlock2D or CrossAttnUpBlock2D for each stage, the smallest images first.", kTypes));
  fields.push_back(MakeField("skip_cross_attention", &C::skip_cross_attention,
                             "Whether there is no context: CatVTON."));
  fields.push_back(MakeField("ip_adapter_tokens", &C::ip_adapter_tokens,
                             "Tokens of a face beside the context: IP-Adapter FaceID; 0: none.",
                             {.min = 0, .max = kMostPerAxis}));
  fields.push_back(
      SizeField("ip_adapter_embed_dim", &C::ip_adapter_embed_dim, "Features of a face."));
  return FamilyRow<UNetConditionConfig>("unet_condition", fields, MakeUNetCondition);
}

}  // namespace frugal

#include "layers/architectures/unet/controlnet_union.h"

#include <algorithm>
#include <utility>

#include "layers/architectures/unet/control_fusion.h"
#include "layers/architectures/unet/controlnet_parts.h"
#include "layers/architectures/unet/unet_fields.h"
#include "layers/architectures/unet/unet_layers.h"
#include "layers/architectures/unet/unet_trunk_parts.h"
#include "layers/blocks/parts.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using namespace architectures;

constexpr const char* kFamily = "controlnet_union";

std::size_t ControlTypeAt(const ControlNetUnionConfig& config) {
  return FirstHintAt(config) + config.control_types.size();
}

UNetTimeOptions TimeOf(const ControlNetUnionConfig& config) {
  UNetTimeOptions options = TrunkTime(config);
  options.control_types = config.num_control_type;
  return options;
}

// {x, t, ...} -> {x, c, ...}: the hints stay where they are.
class UnionEmbedding final : public UNetStem<UNetTime> {
 public:
  explicit UnionEmbedding(const ControlNetUnionConfig& config)
      : UNetStem(config.in_channels, config.block_out_channels[0], TimeOf(config),
                 "time, types of hints"),
        config_(config) {}

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    UNetTime::Conditions conditions = ConditionsIn(config_, vars);
    conditions.control_type = vars[ControlTypeAt(config_)];
    vars[1] = embedding()(context, conditions);
    vars[0] = convolution()(context, std::exchange(vars[0], Var()));
  }

  ControlNetUnionConfig config_;
};

[[noreturn]] void RefuseTypes(const ControlNetUnionConfig& config, const std::string& given) {
  throw ConfigError({.where = std::string(kFamily) + ".control_types",
                     .required = "at least one type of 0 ... " +
                                 std::to_string(config.num_control_type - 1) + ", each once",
                     .given = given,
                     .advice = "list the types of the hints that are given, as in [0, 3]"});
}

void CheckTypes(const ControlNetUnionConfig& config) {
  CheckAtLeast(kFamily, "num_control_type", config.num_control_type);
  const std::vector<std::int64_t>& types = config.control_types;
  if (types.empty()) RefuseTypes(config, "none");
  for (auto type = types.begin(); type != types.end(); ++type) {
    if (*type < 0 || *type >= config.num_control_type) RefuseTypes(config, std::to_string(*type));
    if (std::find(types.begin(), type, *type) != type) {
      RefuseTypes(config, std::to_string(*type) + " twice");
    }
  }
}

void CheckTransformer(const ControlNetUnionConfig& config) {
  const std::int64_t channels = config.block_out_channels[0];
  const char* what = "the channels of the first stage";
  CheckIs(kFamily, "num_trans_channel", config.num_trans_channel, channels, what);
  CheckIs(kFamily, "num_proj_channel", config.num_proj_channel, channels, what);
  CheckAtLeast(kFamily, "num_trans_layer", config.num_trans_layer);
  CheckHeads(kFamily, "num_trans_head", config.num_trans_head, channels);
  CheckAtLeast(kFamily, "addition_time_embed_dim", config.addition_time_embed_dim, 2);
}

ControlFusionOptions FusionOf(const ControlNetUnionConfig& config) {
  return {.channels = config.num_trans_channel,
          .heads = config.num_trans_head,
          .layers = config.num_trans_layer,
          .types = config.num_control_type,
          .hint_types = config.control_types,
          .first_hint = FirstHintAt(config)};
}

NetworkInputs InputsOf(const ControlNetUnionConfig& config) {
  NetworkInputs inputs = TrunkInputs(config);
  for (const std::int64_t type : config.control_types) {
    inputs.push_back(HintInput(config, HintName(type)));
  }
  inputs.push_back(
      {.name = "control_type", .role = InputRole::kNumbers, .shape = {config.num_control_type}});
  for (NetworkInput& input : AddedInputs(config)) inputs.push_back(std::move(input));
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeControlNetUnion(const ControlNetUnionConfig& config) {
  CheckTrunk(kFamily, config);
  CheckHints(kFamily, config);
  CheckTypes(config);
  CheckTransformer(config);
  const UNetSizes sizes = TrunkSizes(kFamily, config);
  CheckTrunkHeads(kFamily, config, sizes);
  const TrunkParts parts(kFamily, config);
  auto net = std::make_unique<Sequential>();
  AppendHintConvolutions(*net, config, config.control_types.size());
  net->AppendUnnamed("embedder", std::make_unique<UnionEmbedding>(config));
  net->AppendUnnamed("fusion", std::make_unique<ControlFusion>(FusionOf(config)));
  AppendDown(*net, sizes, parts);
  AppendMiddle(*net, sizes, parts, MiddleOf(config));
  AppendResiduals(*net, sizes);
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily ControlNetUnionFamily() {
  using C = ControlNetUnionConfig;
  std::vector<Field> fields = HintedFields();
  fields.push_back(SizeField("num_control_type", &C::num_control_type, "Types of hints."));
  fields.push_back(MakeField("control_types", &C::control_types,
                             "The types of the hints that are given, counted from 0.",
                             {.min = 0, .max = kMostPerAxis, .min_items = 1, .max_items = 64}));
  fields.push_back(SizeField("num_trans_channel", &C::num_trans_channel,
                             "Features of the hints' transformer: as the first stage's channels."));
  fields.push_back(SizeField("num_proj_channel", &C::num_proj_channel,
                             "Of what comes out of it: as the first stage's channels."));
  fields.push_back(SizeField("num_trans_head", &C::num_trans_head, "Its heads."));
  fields.push_back(
      MakeField("num_trans_layer", &C::num_trans_layer, "Its layers.", {.min = 1, .max = 1000}));
  return FamilyRow<ControlNetUnionConfig>("controlnet_union", fields, MakeControlNetUnion);
}

}  // namespace frugal

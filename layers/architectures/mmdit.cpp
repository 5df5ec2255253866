#include "layers/architectures/mmdit.h"

#include <algorithm>

#include "layers/architectures/stream_fields.h"
#include "layers/blocks/parts.h"
#include "layers/blocks/positioned_patches.h"
#include "layers/blocks/streams/joint_block.h"
#include "layers/blocks/streams/modulated_output.h"
#include "layers/blocks/time_text_embedding.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/spatial/patches.h"

// N samples, h x w patches, S tokens of text, D features. Between the layers travel x [N, h, w, D],
// the context [N, S, D] and c [N, D], the condition behind its SiLU.
namespace frugal {
namespace {

using namespace architectures;

constexpr std::int64_t kTextTokens = 154;  // that plans assume: those of CLIP and of T5

std::int64_t FeaturesOf(const MmditConfig& config) {
  return config.num_attention_heads * config.attention_head_dim;
}

bool HasSecondAttention(const MmditConfig& config, std::int64_t block) {
  return std::ranges::find(config.dual_attention_layers, block) !=
         config.dual_attention_layers.end();
}

void CheckSizes(const MmditConfig& config) {
  CheckAtLeast("mmdit", "in_channels", config.in_channels);
  CheckAtLeast("mmdit", "out_channels", config.out_channels.value_or(config.in_channels));
  CheckAtLeast("mmdit", "num_layers", config.num_layers);
  CheckAtLeast("mmdit", "attention_head_dim", config.attention_head_dim);
  CheckAtLeast("mmdit", "num_attention_heads", config.num_attention_heads);
  CheckAtLeast("mmdit", "joint_attention_dim", config.joint_attention_dim);
  CheckAtLeast("mmdit", "pooled_projection_dim", config.pooled_projection_dim);
  CheckDivides("mmdit", "patch_size", config.patch_size, config.sample_size, "the sample");
  CheckAtLeast("mmdit", "pos_embed_max_size", config.pos_embed_max_size);
}

void Check(const MmditConfig& config) {
  CheckSizes(config);
  CheckDivides("mmdit", "attention_head_dim", 4, FeaturesOf(config), "features of grid positions");
  CheckIs("mmdit", "caption_projection_dim", config.caption_projection_dim, FeaturesOf(config),
          "heads times their size, as both streams are of one width");
  for (const std::int64_t block : config.dual_attention_layers) {
    if (block >= 0 && block < config.num_layers) continue;
    throw ConfigError(
        {.where = "mmdit.dual_attention_layers",
         .required = "numbers of blocks, 0 to " + std::to_string(config.num_layers - 1),
         .given = std::to_string(block),
         .advice = "name blocks that there are"});
  }
}

// {x, t, context, pooled} -> {x, context, c}
class MmditEmbedding final : public TupleLayer {
 public:
  explicit MmditEmbedding(const MmditConfig& config)
      : patches_({.patches = {.patch = config.patch_size,
                              .channels = config.in_channels,
                              .features = FeaturesOf(config)},
                  .longest = config.pos_embed_max_size,
                  .step = static_cast<double>(config.sample_size / config.patch_size) /
                          static_cast<double>(config.pos_embed_max_size)}),
        condition_(
            {.features = FeaturesOf(config), .pooled_features = config.pooled_projection_dim}),
        text_(config.joint_attention_dim, {.units = config.caption_projection_dim}) {
    AddChild("pos_embed", patches_);
    AddChild("time_text_embed", condition_);
    AddChild("context_embedder", text_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and text"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = patches_(context, std::exchange(vars[0], Var()));
    const Var text = text_(context, std::exchange(vars[2], Var()));
    const Var c = condition_(context, vars[1], vars[3]);
    vars = {x, text, Activate(context, c, Activation::kSilu)};
  }

  PositionedPatches patches_;
  TimeTextEmbedding condition_;
  Dense text_;
};

// {x, c} -> {image}
class MmditFinal final : public TupleLayer {
 public:
  explicit MmditFinal(const MmditConfig& config)
      : patch_(config.patch_size),
        output_(FeaturesOf(config), config.patch_size * config.patch_size *
                                        config.out_channels.value_or(config.in_channels)) {
    AddUnnamedChild("output", output_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "modulated norm, patches to an image"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var patches = output_(context, vars[0], vars[1]);
    vars = {ImageOf(context, patches, patch_, PatchOrder::kChannelsLast)};
  }

  std::int64_t patch_;
  ModulatedOutput output_;
};

NetworkInputs InputsOf(const MmditConfig& config) {
  return {{.name = "x",
           .role = InputRole::kSample,
           .shape = {config.sample_size, config.sample_size, config.in_channels},
           .free_axes = {0, 1},
           .multiples = {config.patch_size, config.patch_size, 1}},
          {.name = "t", .role = InputRole::kTime},
          {.name = "context",
           .role = InputRole::kValues,
           .shape = {kTextTokens, config.joint_attention_dim},
           .free_axes = {0}},
          {.name = "pooled", .role = InputRole::kValues, .shape = {config.pooled_projection_dim}}};
}

}  // namespace

std::unique_ptr<Sequential> MakeMmdit(const MmditConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<MmditEmbedding>(config));
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    net->Append("transformer_blocks." + std::to_string(i),
                std::make_unique<JointBlock>(
                    JointBlockOptions{.features = FeaturesOf(config),
                                      .heads = {.heads = config.num_attention_heads,
                                                .head_size = config.attention_head_dim,
                                                .norm = config.qk_norm},
                                      .ends_context = i + 1 == config.num_layers,
                                      .second_attention = HasSecondAttention(config, i)}));
  }
  net->AppendUnnamed("final_layer", std::make_unique<MmditFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily MmditFamily() {
  using C = MmditConfig;
  return FamilyRow<MmditConfig>(
      "mmdit",
      With(HeadFields<C>(),
           {SizeField("sample_size", &C::sample_size, "Height and width of the latents."),
            SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
            SizeField("in_channels", &C::in_channels, "Of the latents."),
            SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
            SizeField("joint_attention_dim", &C::joint_attention_dim, "Features of the text."),
            SizeField("caption_projection_dim", &C::caption_projection_dim,
                      "Features of the text's stream, as of the image's."),
            SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                      "Features of the pooled text."),
            SizeField("pos_embed_max_size", &C::pos_embed_max_size,
                      "Height and width of the table of positions, in patches."),
            MakeField("dual_attention_layers", &C::dual_attention_layers,
                      "Blocks where the image also attends to itself alone.",
                      {.min = 0, .max = 100000}),
            QueryKeyNormField<C>()}),
      MakeMmdit);
}

}  // namespace frugal

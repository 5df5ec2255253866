#include "layers/architectures/emmdit.h"

#include <algorithm>
#include <array>

#include "layers/architectures/stream_fields.h"
#include "layers/blocks/parts.h"
#include "layers/blocks/positioned_patches.h"
#include "layers/blocks/streams/emmdit_block.h"
#include "layers/blocks/streams/token_compression.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/types/family_row.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/spatial/patches.h"

// N samples, h x w patches, S tokens of text, D features. Between the layers travel x [N, h, w, D],
// in the middle [N, tokens, D], the context [N, S, D], the modulation [N, 6 D] that all blocks
// share and, in the middle, the x of before.
namespace frugal {
namespace {

using namespace architectures;

constexpr std::array<std::int64_t, 3> kGroups = {4, 16, 4};  // blocks before, within and behind
constexpr std::array<Subregions, 3> kRegions = {{{1, 1}, {4, 1}, {4, 4}}};  // of blocks in turn
constexpr std::int64_t kLongestPeriod = 16;  // tokens of a sequence are a multiple of it
constexpr std::int64_t kTextTokens = 128;    // that plans assume
constexpr double kEpsilon = 1e-6;

std::int64_t FeaturesOf(const EmmditConfig& config) {
  return config.num_attention_heads * config.attention_head_dim;
}

void Check(const EmmditConfig& config) {
  CheckIs("emmdit", "patch_size", config.patch_size, 1, "positions are those of single latents");
  CheckIs("emmdit", "num_layers", config.num_layers, 24, "4 blocks, 16 on compressed tokens, 4");
  CheckAtLeast("emmdit", "in_channels", config.in_channels);
  CheckAtLeast("emmdit", "out_channels", config.out_channels.value_or(config.in_channels));
  CheckAtLeast("emmdit", "num_attention_heads", config.num_attention_heads);
  CheckAtLeast("emmdit", "caption_channels", config.caption_channels);
  CheckDivides("emmdit", "sample_size", config.use_sub_attn ? 16 : 4, config.sample_size,
               "the sample, whose tokens are compressed and parted");
  CheckAtLeast("emmdit", "pos_embed_max_size", config.pos_embed_max_size, config.sample_size);
  CheckDivides("emmdit", "attention_head_dim", 16, FeaturesOf(config), "features of 4 x 4 tokens");
  CheckIs("emmdit", "caption_projection_dim", config.caption_projection_dim, FeaturesOf(config),
          "heads times their size, as both streams are of one width");
}

// Between the positions of neighbouring latents.
double StepOf(const EmmditConfig& config) {
  const auto stretch = static_cast<double>(std::max<std::int64_t>(config.sample_size / 16, 1));
  return static_cast<double>(config.sample_size) / static_cast<double>(config.pos_embed_max_size) /
         stretch;
}

// {x, context, t} -> {x, context, m}
class EmmditEmbedding final : public TupleLayer {
 public:
  explicit EmmditEmbedding(const EmmditConfig& config)
      : patches_({.patches = {.patch = config.patch_size,
                              .channels = config.in_channels,
                              .features = FeaturesOf(config)},
                  .longest = config.pos_embed_max_size,
                  .step = StepOf(config)}),
        text_(config.caption_channels, {.units = config.caption_projection_dim}),
        times_({.features = FeaturesOf(config),
                .sinusoid = {.features = 256, .cosine_first = true, .frequency_shift = 0}}),
        modulation_(FeaturesOf(config), {.units = 6 * FeaturesOf(config)}) {
    AddChild("pos_embed", patches_);
    AddChild("context_embedder", text_);
    AddChild("adaln_single.emb.timestep_embedder", times_);
    AddChild("adaln_single.linear", modulation_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and text"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = patches_(context, std::exchange(vars[0], Var()));
    const Var text = text_(context, std::exchange(vars[1], Var()));
    const Var t = Activate(context, times_(context, vars[2]), Activation::kSilu);
    vars = {x, text, modulation_(context, t)};
  }

  PositionedPatches patches_;
  Dense text_;
  TimestepEmbedding times_;
  Dense modulation_;
};

// {x, ...} -> {image}
class EmmditFinal final : public TupleLayer {
 public:
  explicit EmmditFinal(const EmmditConfig& config)
      : patch_(config.patch_size),
        output_(FeaturesOf(config), {.units = config.patch_size * config.patch_size *
                                              config.out_channels.value_or(config.in_channels),
                                     .initializer = Initializer::Zero()}) {
    AddChild("proj_out", output_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "norm, patches to an image"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var patches = output_(context, LayerNorm(context, vars[0], {}, kEpsilon));
    vars = {ImageOf(context, patches, patch_, PatchOrder::kChannelsLast)};
  }

  std::int64_t patch_;
  Dense output_;
};

// Blocks are numbered through all groups: every third attends to all tokens.
void AppendGroup(Sequential& net, const EmmditConfig& config, std::size_t group) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < group; ++i) before += kGroups[i];
  for (std::int64_t i = 0; i < kGroups[group]; ++i) {
    const auto turn = static_cast<std::size_t>((before + i) % 3);
    net.Append("block_groups." + std::to_string(group) + "." + std::to_string(i),
               std::make_unique<EmmditBlock>(EmmditBlockOptions{
                   .features = FeaturesOf(config),
                   .heads = {.heads = config.num_attention_heads,
                             .head_size = config.attention_head_dim,
                             .norm = config.qk_norm},
                   .regions = config.use_sub_attn ? kRegions[turn] : Subregions(),
                   .ends_context = group == 2 && i + 1 == kGroups[group]}));
  }
}

NetworkInputs InputsOf(const EmmditConfig& config) {
  const std::int64_t multiple = config.use_sub_attn ? kLongestPeriod : 1;
  return {{.name = "x",
           .role = InputRole::kSample,
           .shape = {config.sample_size, config.sample_size, config.in_channels}},
          {.name = "context",
           .role = InputRole::kValues,
           .shape = {kTextTokens, config.caption_channels},
           .free_axes = {0},
           .multiples = {multiple, 1}},
          {.name = "t", .role = InputRole::kTime}};
}

}  // namespace

std::unique_ptr<Sequential> MakeEmmdit(const EmmditConfig& config) {
  Check(config);
  const std::int64_t cut = (config.pos_embed_max_size - config.sample_size) / 2;
  const double step = StepOf(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<EmmditEmbedding>(config));
  AppendGroup(*net, config, 0);
  net->Append("tokencompressor.0.0", std::make_unique<TokenCompressor>(FeaturesOf(config)));
  AppendGroup(*net, config, 1);
  net->Append("tokenreconstructor.0.0",
              std::make_unique<TokenReconstructor>(FeaturesOf(config),
                                                   static_cast<double>(cut) * step, step));
  AppendGroup(*net, config, 2);
  net->AppendUnnamed("final_layer", std::make_unique<EmmditFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily EmmditFamily() {
  using C = EmmditConfig;
  return FamilyRow<EmmditConfig>(
      "emmdit",
      With(HeadFields<C>(),
           {SizeField("sample_size", &C::sample_size, "Height and width of the latents."),
            SizeField("patch_size", &C::patch_size, "Height and width of a patch: 1."),
            SizeField("in_channels", &C::in_channels, "Of the latents."),
            SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
            SizeField("caption_channels", &C::caption_channels, "Features of the text."),
            SizeField("caption_projection_dim", &C::caption_projection_dim,
                      "Features of the text's stream, as of the image's."),
            SizeField("pos_embed_max_size", &C::pos_embed_max_size,
                      "Height and width of the table of positions, in patches."),
            MakeField("use_sub_attn", &C::use_sub_attn,
                      "Whether two of three blocks attend within parts of the tokens."),
            QueryKeyNormField<C>()}),
      MakeEmmdit);
}

}  // namespace frugal

#include "layers/architectures/asymmdit.h"

#include <cmath>

#include "layers/architectures/stream_fields.h"
#include "layers/blocks/parts.h"
#include "layers/blocks/streams/asymmetric_block.h"
#include "layers/blocks/streams/modulated_output.h"
#include "layers/blocks/text_mask.h"
#include "layers/blocks/text_pooling.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/blocks/video_patches.h"
#include "layers/types/family_row.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/matmul.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/sinusoid.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/parameter_value.h"

// N samples, F frames of h x w patches, T = F h w, S tokens of text, D features of the video's
// stream and E of the text's, H heads of d. Between the layers travel x [N, F, h, w, D], the
// context [N, S, E], c [N, D], the condition behind its SiLU, cosines and sines [T, H, d / 2] of
// the learned angles, and the mask [N, 1, 1, T + S] of padding.
namespace frugal {
namespace {

using namespace architectures;

constexpr std::int64_t kPoolingHeads = 8;
constexpr double kBaseSide = 192;  // a frame's positions cover a square of this side
constexpr std::int64_t kFrames = 28, kHeight = 60, kWidth = 106;  // that plans assume: 480 x 848

std::int64_t FeaturesOf(const AsymmDitConfig& config) {
  return config.num_attention_heads * config.attention_head_dim;
}

void Check(const AsymmDitConfig& config) {
  CheckAtLeast("asymmdit", "patch_size", config.patch_size);
  CheckAtLeast("asymmdit", "num_attention_heads", config.num_attention_heads);
  CheckDivides("asymmdit", "attention_head_dim", 2, config.attention_head_dim, "a head");
  CheckAtLeast("asymmdit", "num_layers", config.num_layers);
  CheckAtLeast("asymmdit", "pooled_projection_dim", config.pooled_projection_dim);
  CheckAtLeast("asymmdit", "in_channels", config.in_channels);
  CheckAtLeast("asymmdit", "out_channels", config.out_channels.value_or(config.in_channels));
  CheckDivides("asymmdit", "text_embed_dim", kPoolingHeads, config.text_embed_dim,
               "the text's features, for the heads that pool it");
  CheckAtLeast("asymmdit", "time_embed_dim", config.time_embed_dim, 2);
  CheckAtLeast("asymmdit", "max_sequence_length", config.max_sequence_length);
}

// Rows [T, 3] of frame, row and column; rows and columns are centred on 0, and lie so far apart
// that a frame of any shape covers the same area.
template <class T>
void FillPositions(const Shape& x, T* to) {
  const std::int64_t height = x[2], width = x[3];
  const double scale = kBaseSide / std::sqrt(static_cast<double>(height * width));
  const auto centred = [scale](std::int64_t i, std::int64_t count) {
    return (static_cast<double>(i) + 0.5 - static_cast<double>(count) / 2) * scale;
  };
  for (std::int64_t token = 0; token < x[1] * height * width; ++token) {
    *to++ = static_cast<T>(token / (height * width));
    *to++ = static_cast<T>(centred(token / width % height, height));
    *to++ = static_cast<T>(centred(token % width, width));
  }
}

Var PositionsOf(Context& context, const Shape& x) {
  const Tensor y = context.Allocate({x[1] * x[2] * x[3], 3}, context.master_dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(y)}, [&](Backend&, void*) {
    if (y.dtype() == DType::kF64) return FillPositions(x, y.data<double>());
    FillPositions(x, y.data<float>());
  });
  return {y};
}

// {x, context, t, mask} -> {x, context, c, cosine, sine, mask}
class AsymmDitEmbedding final : public TupleLayer {
 public:
  explicit AsymmDitEmbedding(const AsymmDitConfig& config)
      : config_(config),
        frequencies_(AddParameter("pos_frequencies",
                                  {3, config.num_attention_heads, config.attention_head_dim / 2},
                                  Initializer::Zero())),
        patches_({.patch = config.patch_size,
                  .channels = config.in_channels,
                  .features = FeaturesOf(config)}),
        times_({.features = FeaturesOf(config),
                .sinusoid = {.features = config.time_embed_dim,
                             .cosine_first = true,
                             .frequency_shift = 0}}),
        pooling_(config.text_embed_dim, FeaturesOf(config), kPoolingHeads),
        text_(config.text_embed_dim, {.units = config.pooled_projection_dim}) {
    AddChild("patch_embed.proj", patches_);
    AddChild("time_embed.timestep_embedder", times_);
    AddChild("time_embed.pooler", pooling_);
    AddChild("time_embed.caption_proj", text_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and text"; }

 private:
  // [T, H, d / 2] of a grid x
  Var Angles(Context& context, const Shape& x) const {
    const std::int64_t heads = config_.num_attention_heads;
    const std::int64_t pairs = config_.attention_head_dim / 2;
    const Var table = Reshape(context, ExactValueOf(context, frequencies_), {3, heads * pairs});
    const Var angles = MatMul(context, PositionsOf(context, x), table);
    return Reshape(context, angles, {angles.shape()[0], heads, pairs});
  }

  void CheckMask(Context& context, const Var& text, const Var& mask) const {
    if (text.shape()[1] == mask.shape()[1]) return;
    ThrowShape(
        context,
        "the mask has one number for each token of text, here " + std::to_string(text.shape()[1]),
        mask.shape(), "give a mask of the context's length");
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    CheckMask(context, vars[1], vars[3]);
    const Var video = std::exchange(vars[0], Var());
    const Tensor mask = vars[3].value;
    const Var x = PatchesOfFrames(context, patches_, video, config_.patch_size);
    const Var pooled = pooling_(context, vars[1], mask);
    const Var c = Add(context, times_(context, vars[2]), pooled);
    const Var text = text_(context, vars[1]);
    const Var rotations = SineCosine(context, Angles(context, x.shape()), true);
    const std::int64_t pairs = config_.attention_head_dim / 2;
    const Shape& grid = x.shape();
    vars = {x,
            text,
            Activate(context, c, Activation::kSilu),
            Slice(context, rotations, {{2, 0, pairs}}),
            Slice(context, rotations, {{2, pairs, 2 * pairs}}),
            {KeyMask(context, mask, grid[1] * grid[2] * grid[3])}};
  }

  AsymmDitConfig config_;
  Parameter& frequencies_;
  PatchTokens patches_;
  TimestepEmbedding times_;
  TextPooling pooling_;
  Dense text_;
};

// {x, c, ...} -> {video}
class AsymmDitFinal final : public TupleLayer {
 public:
  explicit AsymmDitFinal(const AsymmDitConfig& config)
      : patch_(config.patch_size),
        output_(FeaturesOf(config), config.patch_size * config.patch_size *
                                        config.out_channels.value_or(config.in_channels)) {
    AddUnnamedChild("output", output_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "modulated norm, patches to a video"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var patches = output_(context, vars[0], vars[1]);
    vars = {VideoOf(context, patches, patch_, PatchOrder::kChannelsLast)};
  }

  std::int64_t patch_;
  ModulatedOutput output_;
};

NetworkInputs InputsOf(const AsymmDitConfig& config) {
  const std::int64_t p = config.patch_size;
  return {
      {.name = "x",
       .role = InputRole::kSample,
       .shape = {kFrames, (kHeight + p - 1) / p * p, (kWidth + p - 1) / p * p, config.in_channels},
       .free_axes = {0, 1, 2},
       .multiples = {1, p, p, 1}},
      {.name = "context",
       .role = InputRole::kValues,
       .shape = {config.max_sequence_length, config.text_embed_dim},
       .free_axes = {0}},
      {.name = "t", .role = InputRole::kTime},
      {.name = "mask",
       .role = InputRole::kNumbers,
       .shape = {config.max_sequence_length},
       .free_axes = {0}}};
}

}  // namespace

std::unique_ptr<Sequential> MakeAsymmDit(const AsymmDitConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<AsymmDitEmbedding>(config));
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    net->Append("transformer_blocks." + std::to_string(i),
                std::make_unique<AsymmetricBlock>(
                    AsymmetricBlockOptions{.features = FeaturesOf(config),
                                           .context_features = config.pooled_projection_dim,
                                           .heads = {.heads = config.num_attention_heads,
                                                     .head_size = config.attention_head_dim,
                                                     .norm = config.qk_norm,
                                                     .eps = 1e-5},
                                           .feed_forward = config.activation_fn,
                                           .ends_context = i + 1 == config.num_layers}));
  }
  net->AppendUnnamed("final_layer", std::make_unique<AsymmDitFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily AsymmDitFamily() {
  using C = AsymmDitConfig;
  return FamilyRow<AsymmDitConfig>(
      "asymmdit",
      With(VideoFields<C>(), {SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                                        "Features of the text's stream."),
                              QueryKeyNormField<C>(),
                              SizeField("max_sequence_length", &C::max_sequence_length,
                                        "Tokens of text that plans assume.")}),
      MakeAsymmDit);
}

}  // namespace frugal

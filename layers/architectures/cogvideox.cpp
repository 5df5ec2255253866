#include "layers/architectures/cogvideox.h"

#include <array>

#include "layers/architectures/stream_fields.h"
#include "layers/blocks/parts.h"
#include "layers/blocks/streams/joint_attention.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/blocks/video_patches.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/shape_ops.h"

// N samples, F frames of h x w patches, S tokens of text, D features. Between the layers travel x
// [N, F, h, w, D], the context [N, S, D] and c [N, time_embed_dim], the condition behind its SiLU.
namespace frugal {
namespace {

using namespace architectures;

std::int64_t FeaturesOf(const CogVideoXConfig& config) {
  return config.num_attention_heads * config.attention_head_dim;
}

void Check(const CogVideoXConfig& config) {
  CheckAtLeast("cogvideox", "num_attention_heads", config.num_attention_heads);
  CheckAtLeast("cogvideox", "attention_head_dim", config.attention_head_dim);
  CheckAtLeast("cogvideox", "in_channels", config.in_channels);
  CheckAtLeast("cogvideox", "out_channels", config.out_channels.value_or(config.in_channels));
  CheckAtLeast("cogvideox", "time_embed_dim", config.time_embed_dim);
  CheckAtLeast("cogvideox", "text_embed_dim", config.text_embed_dim);
  CheckAtLeast("cogvideox", "num_layers", config.num_layers, 0);
  CheckAtLeast("cogvideox", "sample_frames", config.sample_frames);
  CheckAtLeast("cogvideox", "temporal_compression_ratio", config.temporal_compression_ratio);
  CheckAtLeast("cogvideox", "max_text_seq_length", config.max_text_seq_length);
  CheckDivides("cogvideox", "patch_size", config.patch_size, config.sample_width, "the width");
  CheckDivides("cogvideox", "patch_size", config.patch_size, config.sample_height, "the height");
  CheckDivides("cogvideox", "attention_head_dim", 16, FeaturesOf(config),
               "features of positions in frames, rows and columns");
}

// {x, context, t} -> {x, context, c}
class CogVideoXEmbedding final : public TupleLayer {
 public:
  explicit CogVideoXEmbedding(const CogVideoXConfig& config)
      : config_(config),
        patches_({.patch = config.patch_size,
                  .channels = config.in_channels,
                  .features = FeaturesOf(config)}),
        text_(config.text_embed_dim, {.units = FeaturesOf(config)}),
        times_({.features = config.time_embed_dim,
                .sinusoid = {.features = FeaturesOf(config),
                             .cosine_first = config.flip_sin_to_cos,
                             .frequency_shift = config.freq_shift}}) {
    AddChild("patch_embed.proj", patches_);
    AddChild("patch_embed.text_proj", text_);
    AddChild("time_embedding", times_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and text"; }

 private:
  // [F, h, w, D]: a quarter of the features for the frame, the rest for column and row.
  Var Positions(Context& context, const Shape& x) const {
    const std::int64_t features = FeaturesOf(config_);
    const double step = 1 / config_.spatial_interpolation_scale;
    const std::vector<AxisPositions> axes = {
        {.count = x[1],
         .rotary_size = features / 4,
         .step = 1 / config_.temporal_interpolation_scale},
        {.count = x[2], .rotary_size = features * 3 / 8, .step = step},
        {.count = x[3], .rotary_size = features * 3 / 8, .step = step}};
    const Var table = SinusoidsOfAxes(context, axes, {0, 2, 1});
    return Reshape(context, table, {1, x[1], x[2], x[3], features});
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var video = std::exchange(vars[0], Var());
    const Var x = PatchesOfFrames(context, patches_, video, config_.patch_size);
    const Var text = text_(context, vars[1]);
    const Var c = times_(context, vars[2]);
    vars = {Arithmetic(context, BinaryKind::kAdd, x, Positions(context, x.shape())), text,
            Activate(context, c, Activation::kSilu)};
  }

  CogVideoXConfig config_;
  PatchTokens patches_;
  Dense text_;
  TimestepEmbedding times_;
};

// The norm of a part of a block: one weight for both streams, a modulation for each.
class StreamsNorm final : public Module {
 public:
  explicit StreamsNorm(const CogVideoXConfig& config)
      : epsilon_(config.norm_eps),
        modulation_(config.time_embed_dim,
                    {.units = 6 * FeaturesOf(config), .initializer = Initializer::Zero()}) {
    AddChild("linear", modulation_);
    if (!config.norm_elementwise_affine) return;
    const Shape features = {FeaturesOf(config)};
    norm_.weight = &AddParameter("norm.weight", features, Initializer::Constant(1));
    norm_.bias = &AddParameter("norm.bias", features, Initializer::Zero());
  }

  // Shift, scale and gate of x, then of the context.
  std::vector<Var> Modulation(Context& context, const Var& c) {
    return Chunks(context, modulation_(context, c), 6);
  }

  Var Normed(Context& context, const Var& x, const Var& shift, const Var& scale) const {
    return ModulatedLayerNorm(context, x, norm_, epsilon_, shift, scale);
  }

 private:
  double epsilon_;
  Dense modulation_;
  NormParameters norm_;
};

// {x, context, c} -> {x, context, c}: attention over both as one sequence, and a feed-forward part;
// both streams share all weights but those of the modulation.
class CogVideoXBlock final : public TupleLayer {
 public:
  explicit CogVideoXBlock(const CogVideoXConfig& config)
      : first_(config),
        second_(config),
        attention_({.features = FeaturesOf(config),
                    .heads = {.heads = config.num_attention_heads,
                              .head_size = config.attention_head_dim,
                              .norm = QueryKeyNorm::kLayer},
                    .bias = config.attention_bias}),
        feed_forward_(FeaturesOf(config),
                      {.inner = 4 * FeaturesOf(config), .kind = config.activation_fn}) {
    AddChild("norm1", first_);
    AddChild("attn1", attention_);
    AddChild("norm2", second_);
    AddChild("ff", feed_forward_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override {
    return "modulated block of two streams with the same weights, " + feed_forward_.Describe();
  }

 private:
  Streams Attended(Context& context, const Var& x, const Var& text, const std::vector<Var>& m) {
    const Var normed = TokensOf(context, first_.Normed(context, x, m[0], m[1]));
    const std::array<Var, 2> parts = {first_.Normed(context, text, m[3], m[4]), normed};
    const Var joined = Concat(context, parts, 1);
    const Var all = attention_(context, {joined, {}}).x;
    const std::int64_t own = text.shape()[1];
    const Var video = Slice(context, all, {{1, own, all.shape()[1]}});
    return {Reshape(context, video, x.shape()), Slice(context, all, {{1, 0, own}})};
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    Var& x = vars[0];
    Var& text = vars[1];
    {
      const std::vector<Var> m = first_.Modulation(context, vars[2]);
      const Streams attended = Attended(context, x, text, m);
      x = GatedAdd(context, attended.x, m[2], x);
      text = GatedAdd(context, attended.context, m[5], text);
    }
    const std::vector<Var> m = second_.Modulation(context, vars[2]);
    const Var inner = feed_forward_(context, second_.Normed(context, x, m[0], m[1]));
    x = GatedAdd(context, inner, m[2], x);
    const Var other = feed_forward_(context, second_.Normed(context, text, m[3], m[4]));
    text = GatedAdd(context, other, m[5], text);
  }

  StreamsNorm first_, second_;
  JointAttention attention_;
  StreamFeedForward feed_forward_;
};

// {x, context, c} -> {video}
class CogVideoXFinal final : public TupleLayer {
 public:
  explicit CogVideoXFinal(const CogVideoXConfig& config)
      : patch_(config.patch_size),
        epsilon_(config.norm_eps),
        first_(FeaturesOf(config),
               {.eps = config.norm_eps, .affine = config.norm_elementwise_affine}),
        modulation_(config.time_embed_dim,
                    {.units = 2 * FeaturesOf(config), .initializer = Initializer::Zero()}),
        output_(FeaturesOf(config), {.units = config.patch_size * config.patch_size *
                                              config.out_channels.value_or(config.in_channels),
                                     .initializer = Initializer::Zero()}) {
    AddChild("norm_final", first_);
    AddChild("norm_out.linear", modulation_);
    AddChild("proj_out", output_);
    if (!config.norm_elementwise_affine) return;
    const Shape features = {FeaturesOf(config)};
    norm_.weight = &AddParameter("norm_out.norm.weight", features, Initializer::Constant(1));
    norm_.bias = &AddParameter("norm_out.norm.bias", features, Initializer::Zero());
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "norms, patches to a video"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::vector<Var> m = Chunks(context, modulation_(context, vars[2]), 2);
    const Var x = first_(context, vars[0]);
    const Var patches =
        output_(context, ModulatedLayerNorm(context, x, norm_, epsilon_, m[0], m[1]));
    vars = {VideoOf(context, patches, patch_, PatchOrder::kChannelsFirst)};
  }

  std::int64_t patch_;
  double epsilon_;
  LayerNormLayer first_;
  Dense modulation_, output_;
  NormParameters norm_;
};

NetworkInputs InputsOf(const CogVideoXConfig& config) {
  const std::int64_t frames = (config.sample_frames - 1) / config.temporal_compression_ratio + 1;
  return {{.name = "x",
           .role = InputRole::kSample,
           .shape = {frames, config.sample_height, config.sample_width, config.in_channels},
           .free_axes = {0, 1, 2},
           .multiples = {1, config.patch_size, config.patch_size, 1}},
          {.name = "context",
           .role = InputRole::kValues,
           .shape = {config.max_text_seq_length, config.text_embed_dim}},
          {.name = "t", .role = InputRole::kTime}};
}

}  // namespace

std::unique_ptr<Sequential> MakeCogVideoX(const CogVideoXConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<CogVideoXEmbedding>(config));
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    net->Append("transformer_blocks." + std::to_string(i),
                std::make_unique<CogVideoXBlock>(config));
  }
  net->AppendUnnamed("final_layer", std::make_unique<CogVideoXFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

namespace {

template <class C>
Field ScaleField(std::string name, double C::*member) {
  return MakeField(std::move(name), member, "Neighbouring positions are one through this apart.",
                   {.min = 0, .min_exclusive = true});
}

}  // namespace

ArchitectureFamily CogVideoXFamily() {
  using C = CogVideoXConfig;
  return FamilyRow<CogVideoXConfig>(
      "cogvideox",
      With(VideoFields<C>(),
           {MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Whether cosines come first."),
            MakeField("freq_shift", &C::freq_shift, "Of the sinusoids' frequencies.", {.min = 0}),
            MakeField("attention_bias", &C::attention_bias,
                      "Whether queries, keys and values have biases."),
            SizeField("sample_width", &C::sample_width, "Width of the latents."),
            SizeField("sample_height", &C::sample_height, "Height of the latents."),
            SizeField("sample_frames", &C::sample_frames, "Frames of the video."),
            SizeField("temporal_compression_ratio", &C::temporal_compression_ratio,
                      "Frames of the video for one of the latents."),
            SizeField("max_text_seq_length", &C::max_text_seq_length, "Tokens of text."),
            MakeField("norm_elementwise_affine", &C::norm_elementwise_affine,
                      "Whether norms have weights and biases."),
            EpsilonField("norm_eps", &C::norm_eps),
            ScaleField("spatial_interpolation_scale", &C::spatial_interpolation_scale),
            ScaleField("temporal_interpolation_scale", &C::temporal_interpolation_scale)}),
      MakeCogVideoX);
}

}  // namespace frugal

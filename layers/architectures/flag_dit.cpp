#include "layers/architectures/flag_dit.h"

#include <algorithm>

#include "layers/blocks/parts.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/patches.h"

// N samples, T tokens, D features. Between the layers travel x [N, T, D] and c [N, min(D, 1024)],
// the condition behind its SiLU.
namespace frugal {
namespace {

using namespace architectures;

constexpr double kFinalEpsilon = 1e-6;

std::int64_t ConditionOf(const FlagDitConfig& config) {
  return std::min<std::int64_t>(config.dim, 1024);
}
std::int64_t KeyHeadsOf(const FlagDitConfig& config) {
  return config.n_kv_heads.value_or(config.n_heads);
}
std::int64_t LabelsOf(const FlagDitConfig& config) {
  return config.num_classes + (config.class_dropout_prob > 0 ? 1 : 0);
}
std::int64_t InnerOf(const FlagDitConfig& config) {
  auto inner = 4 * config.dim * 2 / 3;
  if (config.ffn_dim_multiplier) {
    inner = static_cast<std::int64_t>(*config.ffn_dim_multiplier * static_cast<double>(inner));
  }
  return (inner + config.multiple_of - 1) / config.multiple_of * config.multiple_of;
}

void Check(const FlagDitConfig& config) {
  CheckAtLeast("flag_dit", "input_size", config.input_size);
  CheckAtLeast("flag_dit", "in_channels", config.in_channels);
  CheckAtLeast("flag_dit", "n_layers", config.n_layers, 0);
  CheckAtLeast("flag_dit", "multiple_of", config.multiple_of);
  CheckAtLeast("flag_dit", "num_classes", config.num_classes);
  CheckHeads("flag_dit", "n_heads", config.n_heads, config.dim);
  CheckDivides("flag_dit", "n_kv_heads", KeyHeadsOf(config), config.n_heads, "the heads");
  CheckDivides("flag_dit", "patch_size", config.patch_size, config.input_size, "the input");
  CheckDivides("flag_dit", "n_heads", 2, config.dim / config.n_heads, "a head's size");
}

// {x, t, y} -> {x, c}
class FlagDitEmbedding final : public TupleLayer {
 public:
  explicit FlagDitEmbedding(const FlagDitConfig& config)
      : patch_(config.patch_size),
        patches_(config.patch_size * config.patch_size * config.in_channels,
                 {.units = config.dim, .initializer = Initializer::XavierUniform()}),
        times_({.features = ConditionOf(config),
                .sinusoid = {.features = 256, .cosine_first = true, .frequency_shift = 0},
                .first = "mlp.0",
                .second = "mlp.2"}),
        labels_(AddParameter("y_embedder.embedding_table.weight",
                             {LabelsOf(config), ConditionOf(config)},
                             Initializer::Normal(0, 0.02))) {
    AddChild("x_embedder", patches_);
    AddChild("t_embedder", times_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return "patches, " + patches_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var grid =
        PatchesOf(context, std::exchange(vars[0], Var()), patch_, PatchOrder::kChannelsFirst);
    const Shape& g = grid.shape();
    const Var x = patches_(context, Reshape(context, grid, {g[0], g[1] * g[2], g[3]}));
    const Var y = Embedding(context, vars[2].value, labels_);
    const Var c = Add(context, times_(context, vars[1]), y);
    vars = {x, Activate(context, c, Activation::kSilu)};
  }

  std::int64_t patch_;
  Dense patches_;
  TimestepEmbedding times_;
  Parameter& labels_;
};

// Attention with norms over all heads' queries and keys, rotated by their tokens' numbers.
class FlagDitAttention final : public Layer {
 public:
  explicit FlagDitAttention(const FlagDitConfig& config)
      : heads_(config.n_heads),
        key_heads_(KeyHeadsOf(config)),
        head_size_(config.dim / config.n_heads),
        query_(config.dim, Unbiased(config.dim)),
        key_(config.dim, Unbiased(key_heads_ * head_size_)),
        value_(config.dim, Unbiased(key_heads_ * head_size_)),
        output_(config.dim, Unbiased(config.dim)) {
    AddChild("wq", query_);
    AddChild("wk", key_);
    AddChild("wv", value_);
    AddChild("wo", output_);
    if (!config.qk_norm) return;
    query_norm_ = std::make_unique<LayerNormLayer>(config.dim, LayerNormOptions());
    key_norm_ = std::make_unique<LayerNormLayer>(key_heads_ * head_size_, LayerNormOptions());
    AddChild("q_norm", *query_norm_);
    AddChild("k_norm", *key_norm_);
  }

  LayerKind kind() const override { return LayerKind::kAttention; }
  std::string Describe() const override {
    return "attention of " + std::to_string(heads_) + " heads, rotary";
  }

 private:
  static DenseOptions Unbiased(std::int64_t units) {
    return {.units = units, .bias = false, .initializer = Initializer::XavierUniform()};
  }

  Var Rotated(Context& context, Var x, LayerNormLayer* norm, std::int64_t heads,
              const RotaryAngles& angles) const {
    if (norm != nullptr) x = (*norm)(context, x);
    const RotaryGeometry g = {.heads = heads,
                              .head_size = head_size_,
                              .rotary_size = head_size_,
                              .pairing = RotaryPairing::kNeighbours};
    return Rotate(context, x, g, angles.cosine, angles.sine);
  }

  Var Forward(Context& context, const Var& x) override {
    const RotaryAngles angles =
        AnglesOfAxes(context, {{.count = x.shape()[1], .rotary_size = head_size_}});
    const Var q = Rotated(context, query_(context, x), query_norm_.get(), heads_, angles);
    const Var k = Rotated(context, key_(context, x), key_norm_.get(), key_heads_, angles);
    const Var attended =
        Attention(context, {q}, {k}, {value_(context, x)},
                  {.heads = heads_, .key_heads = key_heads_, .head_size = head_size_});
    return output_(context, attended);
  }

  std::int64_t heads_, key_heads_, head_size_;
  Dense query_, key_, value_, output_;
  std::unique_ptr<LayerNormLayer> query_norm_, key_norm_;
};

// {x, c} -> {x, c}
class FlagDitBlock final : public TupleLayer {
 public:
  explicit FlagDitBlock(const FlagDitConfig& config)
      : norm1_(config.dim, {.eps = config.norm_eps}),
        attention_(config),
        norm2_(config.dim, {.eps = config.norm_eps}),
        feed_forward_(config.dim, {.hidden = InnerOf(config)},
                      {.gate = "w1", .up = "w3", .down = "w2"}),
        modulation_(ConditionOf(config),
                    {.units = 6 * config.dim, .initializer = Initializer::Zero()}) {
    AddChild("attention_norm", norm1_);
    AddChild("attention", attention_);
    AddChild("ffn_norm", norm2_);
    AddChild("feed_forward", feed_forward_);
    AddChild("adaLN_modulation.1", modulation_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return "modulated block, " + attention_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::vector<Var> m = Chunks(context, modulation_(context, vars[1]), 6);
    Var& x = vars[0];
    const Var attended = attention_(context, Modulate(context, norm1_(context, x), m[0], m[1]));
    x = GatedAdd(context, attended, m[2], x);
    const Var fed = feed_forward_(context, Modulate(context, norm2_(context, x), m[3], m[4]));
    x = GatedAdd(context, fed, m[5], x);
  }

  RmsNormLayer norm1_;
  FlagDitAttention attention_;
  RmsNormLayer norm2_;
  GatedFeedForward feed_forward_;
  Dense modulation_;
};

// {x, c} -> {image}
class FlagDitFinal final : public TupleLayer {
 public:
  explicit FlagDitFinal(const FlagDitConfig& config)
      : config_(config),
        linear_(config.dim, {.units = config.patch_size * config.patch_size * config.in_channels *
                                      (config.learn_sigma ? 2 : 1),
                             .initializer = Initializer::Zero()}),
        modulation_(ConditionOf(config),
                    {.units = 2 * config.dim, .initializer = Initializer::Zero()}) {
    AddChild("linear", linear_);
    AddChild("adaLN_modulation.1", modulation_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "modulated norm, patches to an image"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::vector<Var> m = Chunks(context, modulation_(context, vars[1]), 2);
    const Var x =
        linear_(context, ModulatedLayerNorm(context, vars[0], {}, kFinalEpsilon, m[0], m[1]));
    const std::int64_t side = config_.input_size / config_.patch_size;
    const Var grid = Reshape(context, x, {x.shape()[0], side, side, x.shape()[2]});
    const Var image = ImageOf(context, grid, config_.patch_size, PatchOrder::kChannelsLast);
    vars = {config_.learn_sigma ? Slice(context, image, {{3, 0, config_.in_channels}}) : image};
  }

  FlagDitConfig config_;
  Dense linear_;
  Dense modulation_;
};

}  // namespace

std::unique_ptr<Sequential> MakeFlagDit(const FlagDitConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<FlagDitEmbedding>(config));
  for (std::int64_t i = 0; i < config.n_layers; ++i) {
    net->Append("layers." + std::to_string(i), std::make_unique<FlagDitBlock>(config));
  }
  net->Append("final_layer", std::make_unique<FlagDitFinal>(config));
  net->SetInputs({{.name = "x",
                   .role = InputRole::kSample,
                   .shape = {config.input_size, config.input_size, config.in_channels}},
                  {.name = "t", .role = InputRole::kTime, .time_range = 1},
                  {.name = "y", .role = InputRole::kLabel, .classes = LabelsOf(config)}});
  return net;
}

ArchitectureFamily FlagDitFamily() {
  using C = FlagDitConfig;
  return FamilyRow<FlagDitConfig>(
      "flag_dit",
      {SizeField("input_size", &C::input_size, "Height and width of the latents."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_channels", &C::in_channels, "Of the latents."),
       SizeField("dim", &C::dim, "Features."), CountField("n_layers", &C::n_layers, "Blocks."),
       SizeField("n_heads", &C::n_heads, "Heads."),
       SizeField("n_kv_heads", &C::n_kv_heads, "Key heads; none: as n_heads."),
       SizeField("multiple_of", &C::multiple_of, "Features inside are a multiple of this."),
       MakeField("ffn_dim_multiplier", &C::ffn_dim_multiplier, "Times the features inside.",
                 {.min = 0, .max = 1000, .min_exclusive = true}),
       EpsilonField("norm_eps", &C::norm_eps),
       RateField("class_dropout_prob", &C::class_dropout_prob,
                 "Above 0: one more label, for no class."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       MakeField("learn_sigma", &C::learn_sigma, "Whether it predicts a variance too."),
       MakeField("qk_norm", &C::qk_norm, "Norms of queries and keys.")},
      MakeFlagDit);
}

}  // namespace frugal

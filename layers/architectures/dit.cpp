#include "layers/architectures/dit.h"

#include <array>
#include <cmath>

#include "layers/blocks/parts.h"
#include "layers/blocks/patch_tokens.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/types/family_row.h"
#include "layers/types/size_fields.h"
#include "sdk/core/error.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/patches.h"
#include "sdk/ops/support/parameter_value.h"

// N samples, T tokens, D features. Between the layers travel x [N, T, D] and c [N, D], the
// condition behind its SiLU.
namespace frugal {
namespace {

using namespace architectures;

constexpr double kEpsilon = 1e-6;

void Check(const char* family, const DitConfig& config) {
  CheckAtLeast(family, "input_size", config.input_size);
  CheckAtLeast(family, "patch_size", config.patch_size);
  CheckAtLeast(family, "in_channels", config.in_channels);
  CheckAtLeast(family, "depth", config.depth, 0);
  CheckAtLeast(family, "num_classes", config.num_classes);
  CheckHeads(family, "num_heads", config.num_heads, config.hidden_size);
  CheckDivides(family, "patch_size", config.patch_size, config.input_size, "the input");
  CheckDivides(family, "hidden_size", 4, config.hidden_size, "features of grid positions");
}

std::int64_t LabelsOf(const DitConfig& config) {
  return config.num_classes + (config.class_dropout_prob > 0 ? 1 : 0);
}

// {x, t, y} -> {x, c}
class DitEmbedding final : public TupleLayer {
 public:
  explicit DitEmbedding(const DitConfig& config)
      : config_(config),
        positions_(AddParameter("pos_embed", {1, TokensOf(config), config.hidden_size},
                                Initializer::GridSinusoid(config.input_size / config.patch_size))),
        patches_({.patch = config.patch_size,
                  .channels = config.in_channels,
                  .features = config.hidden_size}),
        times_({.features = config.hidden_size,
                .sinusoid = {.features = 256, .cosine_first = true, .frequency_shift = 0},
                .first = "mlp.0",
                .second = "mlp.2"}),
        labels_(AddParameter("y_embedder.embedding_table.weight",
                             {LabelsOf(config), config.hidden_size},
                             Initializer::Normal(0, 0.02))) {
    positions_.trainable = false;
    AddChild("x_embedder.proj", patches_);
    AddChild("t_embedder", times_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and class"; }

 private:
  static std::int64_t TokensOf(const DitConfig& config) {
    const std::int64_t side = config.input_size / config.patch_size;
    return side * side;
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = patches_(context, std::exchange(vars[0], Var()));
    const Var t = times_(context, vars[1]);
    const Var y = Embedding(context, vars[2].value, labels_);
    vars = {Arithmetic(context, BinaryKind::kAdd, x, ValueOf(context, positions_)),
            Activate(context, Add(context, t, y), Activation::kSilu)};
  }

  DitConfig config_;
  Parameter& positions_;
  PatchTokens patches_;
  TimestepEmbedding times_;
  Parameter& labels_;
};

// {x, c} -> {x, c}: attention and a feed-forward part, each between a modulated norm and a gate.
class DitBlock final : public TupleLayer {
 public:
  explicit DitBlock(const DitConfig& config)
      : features_(config.hidden_size),
        attention_(features_,
                   {.heads = config.num_heads,
                    .init_std = 1 / std::sqrt(2.0 * static_cast<double>(features_)),
                    .output_init_std = 1 / std::sqrt(static_cast<double>(features_))},
                   {.fused = "qkv", .output = "proj"}),
        up_(features_, {.units = InnerOf(config),
                        .activation = Activation::kGeluTanh,
                        .initializer = Initializer::XavierUniform()}),
        down_(InnerOf(config), {.units = features_, .initializer = Initializer::XavierUniform()}),
        modulation_(features_, {.units = 6 * features_, .initializer = Initializer::Zero()}) {
    AddChild("attn", attention_);
    AddChild("mlp.fc1", up_);
    AddChild("mlp.fc2", down_);
    AddChild("adaLN_modulation.1", modulation_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return "modulated block, " + attention_.Describe(); }

 private:
  static std::int64_t InnerOf(const DitConfig& config) {
    return static_cast<std::int64_t>(static_cast<double>(config.hidden_size) * config.mlp_ratio);
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::vector<Var> m = Chunks(context, modulation_(context, vars[1]), 6);
    Var& x = vars[0];
    const Var attended =
        attention_(context, ModulatedLayerNorm(context, x, {}, kEpsilon, m[0], m[1]));
    x = GatedAdd(context, attended, m[2], x);
    const Var inner = up_(context, ModulatedLayerNorm(context, x, {}, kEpsilon, m[3], m[4]));
    x = GatedAdd(context, down_(context, inner), m[5], x);
  }

  std::int64_t features_;
  AttentionLayer attention_;
  Dense up_;
  Dense down_;
  Dense modulation_;
};

// {x, c} -> {image}
class DitFinal final : public TupleLayer {
 public:
  DitFinal(const DitConfig& config, bool drops_variance)
      : config_(config),
        drops_variance_(drops_variance && config.learn_sigma),
        linear_(config.hidden_size, {.units = config.patch_size * config.patch_size * OutChannels(),
                                     .initializer = Initializer::Zero()}),
        modulation_(config.hidden_size,
                    {.units = 2 * config.hidden_size, .initializer = Initializer::Zero()}) {
    AddChild("linear", linear_);
    AddChild("adaLN_modulation.1", modulation_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "modulated norm, patches to an image"; }

 private:
  std::int64_t OutChannels() const { return config_.in_channels * (config_.learn_sigma ? 2 : 1); }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::vector<Var> m = Chunks(context, modulation_(context, vars[1]), 2);
    const Var x = linear_(context, ModulatedLayerNorm(context, vars[0], {}, kEpsilon, m[0], m[1]));
    const std::int64_t side = config_.input_size / config_.patch_size;
    const Var grid = Reshape(context, x, {x.shape()[0], side, side, x.shape()[2]});
    const Var image = ImageOf(context, grid, config_.patch_size, PatchOrder::kChannelsLast);
    vars = {drops_variance_ ? Slice(context, image, {{3, 0, config_.in_channels}}) : image};
  }

  DitConfig config_;
  bool drops_variance_;
  Dense linear_;
  Dense modulation_;
};

std::unique_ptr<Sequential> Make(const char* family, const DitConfig& config, bool drops_variance) {
  Check(family, config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<DitEmbedding>(config));
  for (std::int64_t i = 0; i < config.depth; ++i) {
    net->Append("blocks." + std::to_string(i), std::make_unique<DitBlock>(config));
  }
  net->Append("final_layer", std::make_unique<DitFinal>(config, drops_variance));
  net->SetInputs(
      {{.name = "x",
        .role = InputRole::kSample,
        .shape = {config.input_size, config.input_size, config.in_channels}},
       {.name = "t", .role = InputRole::kTime, .time_range = drops_variance ? 1.0 : 1000.0},
       {.name = "y", .role = InputRole::kLabel, .classes = LabelsOf(config)}});
  return net;
}

}  // namespace

std::unique_ptr<Sequential> MakeDit(const DitConfig& config) { return Make("dit", config, false); }

std::unique_ptr<Sequential> MakeSit(const SitConfig& config) { return Make("sit", config, true); }

namespace {

template <class C>
std::vector<Field> DitFields() {
  return {SizeField("input_size", &C::input_size, "Height and width of the latents."),
          SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
          SizeField("in_channels", &C::in_channels, "Of the latents."),
          SizeField("hidden_size", &C::hidden_size, "Features."),
          CountField("depth", &C::depth, "Blocks."),
          SizeField("num_heads", &C::num_heads, "Heads."),
          RatioField("mlp_ratio", &C::mlp_ratio),
          RateField("class_dropout_prob", &C::class_dropout_prob,
                    "Above 0: one more label, for no class."),
          SizeField("num_classes", &C::num_classes, "Classes."),
          MakeField("learn_sigma", &C::learn_sigma, "Whether it predicts a variance too.")};
}

}  // namespace

ArchitectureFamily DitFamily() {
  return FamilyRow<DitConfig>("dit", DitFields<DitConfig>(), MakeDit);
}

ArchitectureFamily SitFamily() {
  return FamilyRow<SitConfig>("sit", DitFields<SitConfig>(), MakeSit);
}

}  // namespace frugal

#include "layers/architectures/uvit.h"

#include <optional>

#include "layers/blocks/parts.h"
#include "layers/blocks/patch_tokens.h"
#include "layers/convolution.h"
#include "layers/norms.h"
#include "layers/types/family_row.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/sinusoid.h"
#include "sdk/ops/spatial/patches.h"
#include "sdk/ops/support/parameter_value.h"

// N samples, T tokens of which the first `extras` are the class and the time, D features. Between
// the layers travel x [N, T, D] and behind it the skips, the newest last.
namespace frugal {
namespace {

using namespace architectures;

std::int64_t ExtrasOf(const UVitConfig& config) { return config.num_classes > 0 ? 2 : 1; }
std::int64_t SideOf(const UVitConfig& config) { return config.img_size / config.patch_size; }

void Check(const UVitConfig& config) {
  CheckAtLeast("uvit", "img_size", config.img_size);
  CheckAtLeast("uvit", "in_chans", config.in_chans);
  CheckAtLeast("uvit", "depth", config.depth);
  CheckHeads("uvit", "num_heads", config.num_heads, config.embed_dim);
  CheckDivides("uvit", "patch_size", config.patch_size, config.img_size, "the image");
}

// {x, t, y} -> {x}
class UVitEmbedding final : public TupleLayer {
 public:
  explicit UVitEmbedding(const UVitConfig& config)
      : config_(config),
        patches_({.patch = config.patch_size,
                  .channels = config.in_chans,
                  .features = config.embed_dim}),
        positions_(AddParameter(
            "pos_embed", {1, ExtrasOf(config) + SideOf(config) * SideOf(config), config.embed_dim},
            Initializer::Normal(0, 0.02))) {
    AddChild("patch_embed.proj", patches_);
    if (config.num_classes > 0) {
      labels_ = &AddParameter("label_emb.weight", {config.num_classes, config.embed_dim},
                              Initializer::Normal(0, 1));
    }
    if (!config.mlp_time_embed) return;
    const std::int64_t inner = 4 * config.embed_dim;
    up_ = MakeProjection(config.embed_dim, {.outputs = inner, .activation = Activation::kSilu});
    down_ = MakeProjection(inner, {.outputs = config.embed_dim});
    AddChild("time_embed.0", *up_);
    AddChild("time_embed.2", *down_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return patches_.Describe() + ", time and class tokens"; }

 private:
  Var Token(Context& context, const Var& features) const {
    return Reshape(context, features, {features.shape()[0], 1, config_.embed_dim});
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var patches = patches_(context, std::exchange(vars[0], Var()));
    Var time = TimestepFeatures(
        context, vars[1],
        {.features = config_.embed_dim, .cosine_first = true, .frequency_shift = 0});
    if (up_) time = (*down_)(context, (*up_)(context, time));
    std::vector<Var> tokens;
    if (labels_ != nullptr) {
      tokens.push_back(Token(context, Embedding(context, vars[2].value, *labels_)));
    }
    tokens.push_back(Token(context, time));
    tokens.push_back(patches);
    vars = {Arithmetic(context, BinaryKind::kAdd, Concat(context, tokens, 1),
                       ValueOf(context, positions_))};
  }

  UVitConfig config_;
  PatchTokens patches_;
  Parameter& positions_;
  Parameter* labels_ = nullptr;
  std::unique_ptr<Dense> up_, down_;
};

enum class UVitSkip : std::uint8_t { kNone, kLeaves, kTakes };

// {x, skips...} -> {x, skips...} with one skip more, or one less.
class UVitBlock final : public TupleLayer {
 public:
  UVitBlock(const UVitConfig& config, UVitSkip skip)
      : skip_(skip),
        norm1_(config.embed_dim, {}),
        attention_(config.embed_dim,
                   {.heads = config.num_heads, .bias = config.qkv_bias, .output_bias = true},
                   {.fused = "qkv", .output = "proj"}),
        norm2_(config.embed_dim, {}),
        up_(MakeProjection(config.embed_dim,
                           {.outputs = InnerOf(config), .activation = Activation::kGelu})),
        down_(MakeProjection(InnerOf(config), {.outputs = config.embed_dim})) {
    AddChild("norm1", norm1_);
    AddChild("attn", attention_);
    AddChild("norm2", norm2_);
    AddChild("mlp.fc1", *up_);
    AddChild("mlp.fc2", *down_);
    if (skip != UVitSkip::kTakes) return;
    join_ = MakeProjection(2 * config.embed_dim, {.outputs = config.embed_dim});
    AddChild("skip_linear", *join_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override {
    return attention_.Describe() + " and feed-forward" +
           (skip_ == UVitSkip::kNone     ? ""
            : skip_ == UVitSkip::kLeaves ? ", leaves a skip"
                                         : ", takes a skip");
  }

 private:
  static std::int64_t InnerOf(const UVitConfig& config) {
    return static_cast<std::int64_t>(static_cast<double>(config.embed_dim) * config.mlp_ratio);
  }

  // x + layer(features), the sum inside the layer's last product.
  static Var AddProjected(Context& context, Layer& layer, const Var& features, const Var& x) {
    const Projection last = *layer.LastProjection();
    return Linear(context, layer.RunUpToProjection(context, features), *last.weight, last.bias, {},
                  x);
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    Var x = std::exchange(vars[0], Var());
    if (join_) {
      const std::array<Var, 2> both = {std::move(x), PopSkip(vars)};
      x = (*join_)(context, ConcatOfSaved(context, both, 2));
    }
    x = AddProjected(context, attention_, norm1_(context, x), x);
    x = AddProjected(context, *down_, (*up_)(context, norm2_(context, x)), x);
    vars[0] = x;
    if (skip_ == UVitSkip::kLeaves) PushSkip(vars, x);
  }

  UVitSkip skip_;
  LayerNormLayer norm1_;
  AttentionLayer attention_;
  LayerNormLayer norm2_;
  std::unique_ptr<Dense> up_, down_, join_;
};

// x [N, T, D] -> image
class UVitFinal final : public Layer {
 public:
  explicit UVitFinal(const UVitConfig& config)
      : config_(config),
        norm_(config.embed_dim, {}),
        patches_(
            MakeProjection(config.embed_dim,
                           {.outputs = config.patch_size * config.patch_size * config.in_chans})) {
    AddChild("norm", norm_);
    AddChild("decoder_pred", *patches_);
    if (!config.conv) return;
    convolution_ = std::make_unique<Conv2d>(
        config.in_chans, Conv2dOptions{.filters = config.in_chans, .kernel = {3}, .padding = {1}});
    AddChild("final_layer", *convolution_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "norm, patches to an image"; }

 private:
  Var Forward(Context& context, const Var& x) override {
    const std::int64_t tokens = x.shape()[1];
    const Var all = (*patches_)(context, norm_(context, x));
    const Var own = Slice(context, all, {{1, ExtrasOf(config_), tokens}});
    const Shape grid = {x.shape()[0], SideOf(config_), SideOf(config_), own.shape()[2]};
    const Var image = ImageOf(context, Reshape(context, own, grid), config_.patch_size,
                              PatchOrder::kChannelsLast);
    return convolution_ ? (*convolution_)(context, image) : image;
  }

  UVitConfig config_;
  LayerNormLayer norm_;
  std::unique_ptr<Dense> patches_;
  std::unique_ptr<Conv2d> convolution_;
};

NetworkInputs InputsOf(const UVitConfig& config) {
  NetworkInputs inputs = {{.name = "x",
                           .role = InputRole::kSample,
                           .shape = {config.img_size, config.img_size, config.in_chans}},
                          {.name = "t", .role = InputRole::kTime}};
  if (config.num_classes > 0) {
    inputs.push_back({.name = "y", .role = InputRole::kLabel, .classes = config.num_classes});
  }
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeUVit(const UVitConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<UVitEmbedding>(config));
  const std::int64_t half = config.depth / 2;
  const auto append = [&](const std::string& name, UVitSkip skip) {
    net->Append(name, std::make_unique<UVitBlock>(config, config.skip ? skip : UVitSkip::kNone));
  };
  for (std::int64_t i = 0; i < half; ++i) {
    append("in_blocks." + std::to_string(i), UVitSkip::kLeaves);
  }
  append("mid_block", UVitSkip::kNone);
  for (std::int64_t i = 0; i < half; ++i) {
    append("out_blocks." + std::to_string(i), UVitSkip::kTakes);
  }
  net->AppendUnnamed("final", std::make_unique<UVitFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily UVitFamily() {
  using C = UVitConfig;
  return FamilyRow<UVitConfig>(
      "uvit",
      {SizeField("img_size", &C::img_size, "Height and width of an image."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_chans", &C::in_chans, "Channels of an image."),
       SizeField("embed_dim", &C::embed_dim, "Features."),
       MakeField("depth", &C::depth, "Blocks.", {.min = 1, .max = kMostBlocks}),
       SizeField("num_heads", &C::num_heads, "Heads."), RatioField("mlp_ratio", &C::mlp_ratio),
       MakeField("qkv_bias", &C::qkv_bias, "Whether queries, keys and values have biases."),
       MakeField("mlp_time_embed", &C::mlp_time_embed, "Two products on the time's sinusoids."),
       MakeField("num_classes", &C::num_classes, "Classes; -1: no labels.",
                 {.min = -1, .max = kMostPerAxis}),
       MakeField("conv", &C::conv, "A 3x3 convolution at the end."),
       MakeField("skip", &C::skip, "Long skips.")},
      MakeUVit);
}

}  // namespace frugal

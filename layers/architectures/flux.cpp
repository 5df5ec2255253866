#include "layers/architectures/flux.h"

#include <algorithm>
#include <numeric>

#include "layers/architectures/stream_fields.h"
#include "layers/blocks/parts.h"
#include "layers/blocks/streams/flux_blocks.h"
#include "layers/blocks/streams/joint_block.h"
#include "layers/blocks/streams/modulated_output.h"
#include "layers/blocks/time_text_embedding.h"
#include "layers/types/family_row.h"
#include "sdk/core/error.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"

// N samples, T tokens of the image and S of text, D features, heads of d. Through the blocks of two
// streams travel x [N, T, D], the context [N, S, D], c [N, D], the condition behind its SiLU, and
// the cosines and sines [T, d / 2] of the image's positions; for those of one see flux_blocks.h.
namespace frugal {
namespace {

using namespace architectures;

constexpr std::int64_t kImageTokens = 4096;  // that plans assume: 1024 x 1024 pixels
constexpr std::int64_t kTextTokens = 512;

std::int64_t FeaturesOf(const FluxConfig& config) {
  return config.num_attention_heads * config.attention_head_dim;
}

StreamHeads HeadsOf(const FluxConfig& config) {
  return {.heads = config.num_attention_heads,
          .head_size = config.attention_head_dim,
          .norm = QueryKeyNorm::kRms};
}

void CheckAxes(const FluxConfig& config) {
  const auto& axes = config.axes_dims_rope;
  const bool even = std::ranges::all_of(axes, [](std::int64_t a) { return a >= 0 && a % 2 == 0; });
  const std::int64_t sum = std::accumulate(axes.begin(), axes.end(), std::int64_t{0});
  if (axes.size() == 3 && even && sum == config.attention_head_dim) return;
  throw ConfigError({.where = "flux.axes_dims_rope",
                     .required = "3 even numbers whose sum is attention_head_dim, " +
                                 std::to_string(config.attention_head_dim),
                     .given = std::to_string(axes.size()) + " of sum " + std::to_string(sum),
                     .advice = "e.g. [16, 56, 56] for heads of 128"});
}

void Check(const FluxConfig& config) {
  CheckAtLeast("flux", "patch_size", config.patch_size);
  CheckAtLeast("flux", "in_channels", config.in_channels);
  CheckAtLeast("flux", "out_channels", config.out_channels.value_or(config.in_channels));
  CheckAtLeast("flux", "num_layers", config.num_layers, 0);
  CheckAtLeast("flux", "num_single_layers", config.num_single_layers, 0);
  CheckAtLeast("flux", "attention_head_dim", config.attention_head_dim);
  CheckAtLeast("flux", "num_attention_heads", config.num_attention_heads);
  CheckAtLeast("flux", "joint_attention_dim", config.joint_attention_dim);
  CheckAtLeast("flux", "pooled_projection_dim", config.pooled_projection_dim);
  CheckAtLeast("flux", "grid_height", config.grid_height, 0);
  CheckAtLeast("flux", "grid_width", config.grid_width, 0);
  CheckAxes(config);
}

// The largest divisor whose square is not above the number.
std::int64_t RowsOfSquarest(std::int64_t tokens) {
  std::int64_t rows = 1;
  for (std::int64_t i = 2; i * i <= tokens; ++i) {
    if (tokens % i == 0) rows = i;
  }
  return rows;
}

std::int64_t RowsOf(const FluxConfig& config, std::int64_t tokens) {
  if (config.grid_height > 0) return config.grid_height;
  return config.grid_width > 0 ? tokens / config.grid_width : RowsOfSquarest(tokens);
}

// {x, context, pooled, t, guidance} -> {x, context, c, cosine, sine}
class FluxEmbedding final : public TupleLayer {
 public:
  explicit FluxEmbedding(const FluxConfig& config)
      : config_(config),
        condition_({.features = FeaturesOf(config),
                    .pooled_features = config.pooled_projection_dim,
                    .time_scale = 1000,
                    .guidance = config.guidance_embeds}),
        text_(config.joint_attention_dim, {.units = FeaturesOf(config)}),
        tokens_(config.in_channels, {.units = FeaturesOf(config)}) {
    AddChild("time_text_embed", condition_);
    AddChild("context_embedder", text_);
    AddChild("x_embedder", tokens_);
  }

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override { return tokens_.Describe() + ", time and text"; }

 private:
  RotaryAngles Angles(Context& context, const Shape& x) const {
    const std::int64_t rows = RowsOf(config_, x[1]);
    if (rows == 0 || x[1] % rows != 0) {
      ThrowShape(context, "its tokens are a grid of rows", x,
                 "give a multiple of grid_height or grid_width, or leave both out");
    }
    const auto& axes = config_.axes_dims_rope;
    return AnglesOfAxes(context, {{.rotary_size = axes[0]},
                                  {.count = rows, .rotary_size = axes[1]},
                                  {.count = x[1] / rows, .rotary_size = axes[2]}});
  }

  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = tokens_(context, vars[0]);
    const Var text = text_(context, vars[1]);
    const Var guidance = config_.guidance_embeds ? vars[4] : Var();
    const Var c = condition_(context, vars[3], vars[2], guidance);
    const RotaryAngles angles = Angles(context, x.shape());
    vars = {x, text, Activate(context, c, Activation::kSilu), {angles.cosine}, {angles.sine}};
  }

  FluxConfig config_;
  TimeTextEmbedding condition_;
  Dense text_, tokens_;
};

// {both streams, c, cosine, sine, x's cosine} -> {x}
class FluxFinal final : public TupleLayer {
 public:
  explicit FluxFinal(const FluxConfig& config)
      : output_(FeaturesOf(config), config.patch_size * config.patch_size *
                                        config.out_channels.value_or(config.in_channels)) {
    AddUnnamedChild("output", output_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "the image's tokens, modulated norm, product"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const std::int64_t all = vars[0].shape()[1];
    const std::int64_t image = vars[4].shape()[0];
    const Var x = Slice(context, vars[0], {{.axis = 1, .begin = all - image, .end = all}});
    vars = {output_(context, x, vars[1])};
  }

  ModulatedOutput output_;
};

NetworkInput TokensInput(const FluxConfig& config) {
  NetworkInput x = {.name = "x", .role = InputRole::kSample};
  if (config.grid_height > 0 && config.grid_width > 0) {
    x.shape = {config.grid_height * config.grid_width, config.in_channels};
    return x;
  }
  const std::int64_t side = std::max<std::int64_t>({config.grid_height, config.grid_width, 1});
  x.shape = {side == 1 ? kImageTokens : side * side, config.in_channels};
  x.free_axes = {0};
  x.multiples = {side, 1};
  return x;
}

NetworkInputs InputsOf(const FluxConfig& config) {
  NetworkInputs inputs = {
      TokensInput(config),
      {.name = "context",
       .role = InputRole::kValues,
       .shape = {kTextTokens, config.joint_attention_dim},
       .free_axes = {0}},
      {.name = "pooled", .role = InputRole::kValues, .shape = {config.pooled_projection_dim}},
      {.name = "t", .role = InputRole::kTime, .time_range = 1}};
  if (config.guidance_embeds) {
    inputs.push_back({.name = "guidance", .role = InputRole::kNumbers});
  }
  return inputs;
}

}  // namespace

std::unique_ptr<Sequential> MakeFlux(const FluxConfig& config) {
  Check(config);
  auto net = std::make_unique<Sequential>();
  net->AppendUnnamed("embedder", std::make_unique<FluxEmbedding>(config));
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    net->Append("transformer_blocks." + std::to_string(i),
                std::make_unique<JointBlock>(JointBlockOptions{
                    .features = FeaturesOf(config), .heads = HeadsOf(config), .rotary = true}));
  }
  net->AppendUnnamed("join", std::make_unique<StreamJoin>());
  for (std::int64_t i = 0; i < config.num_single_layers; ++i) {
    net->Append("single_transformer_blocks." + std::to_string(i),
                std::make_unique<SingleStreamBlock>(FeaturesOf(config), HeadsOf(config)));
  }
  net->AppendUnnamed("final_layer", std::make_unique<FluxFinal>(config));
  net->SetInputs(InputsOf(config));
  return net;
}

ArchitectureFamily FluxFamily() {
  using C = FluxConfig;
  return FamilyRow<FluxConfig>(
      "flux",
      With(HeadFields<C>(),
           {CountField("num_single_layers", &C::num_single_layers, "Blocks of one stream."),
            SizeField("patch_size", &C::patch_size, "Its square is a factor of the outputs."),
            SizeField("in_channels", &C::in_channels, "Of a token."),
            SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
            SizeField("joint_attention_dim", &C::joint_attention_dim, "Features of the text."),
            SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                      "Features of the pooled text."),
            MakeField("guidance_embeds", &C::guidance_embeds,
                      "Whether the guidance's weight is an input."),
            MakeField("axes_dims_rope", &C::axes_dims_rope,
                      "Features of a head that each axis of positions turns.",
                      {.min = 0, .max = kMostPerAxis, .min_items = 3, .max_items = 3}),
            CountField("grid_height", &C::grid_height,
                       "Rows of tokens; 0: of the most square grid."),
            CountField("grid_width", &C::grid_width,
                       "Columns of tokens; 0: of the most square grid.")}),
      MakeFlux);
}

}  // namespace frugal

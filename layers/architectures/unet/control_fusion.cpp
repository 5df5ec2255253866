#include "layers/architectures/unet/control_fusion.h"

#include <cmath>
#include <utility>

#include "layers/architectures/unet/controlnet_parts.h"
#include "layers/blocks/transformer_block.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/reduce.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal::architectures {

ControlTransformerBlock::ControlTransformerBlock(std::int64_t features, std::int64_t heads)
    : norm1_(features, {}),
      attention_(features, {.heads = heads}, {.fused = "in_proj_", .output = "out_proj"}),
      norm2_(features, {}),
      in_(features, {.units = 4 * features, .activation = Activation::kQuickGelu}),
      out_(4 * features, {.units = features}) {
  AddChild("attn", attention_);
  AddChild("ln_1", norm1_);
  AddChild("mlp.c_fc", in_);
  AddChild("mlp.c_proj", out_);
  AddChild("ln_2", norm2_);
}

Var ControlTransformerBlock::operator()(Context& context, const Var& x) {
  const Var h = RunAndAdd(context, attention_, norm1_(context, x), x);
  return RunAndAdd(context, out_, in_(context, norm2_(context, h)), h);
}

ControlFusion::ControlFusion(const ControlFusionOptions& options)
    : options_(options),
      task_embedding_(
          AddParameter("task_embedding", {options.types, options.channels},
                       Initializer::Normal(0, std::sqrt(static_cast<double>(options.channels))))),
      projection_(options.channels,
                  {.units = options.channels, .initializer = Initializer::Zero()}) {
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks_.push_back(std::make_unique<ControlTransformerBlock>(options.channels, options.heads));
    AddChild("transformer_layes." + std::to_string(i), *blocks_.back());
  }
  AddChild("spatial_ch_projs", projection_);
}

std::string ControlFusion::Describe() const {
  return std::to_string(options_.hint_types.size()) + " hints into x, attention over the batch, " +
         std::to_string(options_.heads) + " heads";
}

Var ControlFusion::Tokens(Context& context, const VarTuple& vars) const {
  const Var types = ValueOf(context, task_embedding_);
  std::vector<Var> tokens;
  for (std::size_t i = 0; i < options_.hint_types.size(); ++i) {
    const std::int64_t type = options_.hint_types[i];
    const Var row = Slice(context, types, {{0, type, type + 1}});
    const Var mean = Mean(context, vars[options_.first_hint + i], {1, 2});
    const Var token = Arithmetic(context, BinaryKind::kAdd, mean, row);
    tokens.push_back(Reshape(context, token, {1, mean.shape()[0], mean.shape()[1]}));
  }
  return Concat(context, tokens, 0);
}

void ControlFusion::ForwardTuple(Context& context, VarTuple& vars) {
  for (std::size_t i = 0; i < options_.hint_types.size(); ++i) {
    CheckHintFits(context, HintName(options_.hint_types[i]), vars[0],
                  vars[options_.first_hint + i]);
  }
  Var tokens = Tokens(context, vars);
  for (const auto& block : blocks_) tokens = (*block)(context, tokens);
  const Var shift = Sum(context, projection_(context, tokens), {0});
  Var x = std::exchange(vars[0], Var());
  for (std::size_t i = 0; i < options_.hint_types.size(); ++i) {
    x = Add(context, x, std::exchange(vars[options_.first_hint + i], Var()));
  }
  x = Modulate(context, x, shift, {});
  vars = {x, vars[1], vars[2]};
  PushSkip(vars, x);
}

}  // namespace frugal::architectures

#include "layers/blocks/streams/joint_attention.h"

#include <array>

#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

const StreamProjectionNames kContextNames = {.query = "add_q_proj",
                                             .key = "add_k_proj",
                                             .value = "add_v_proj",
                                             .query_norm = "norm_added_q",
                                             .key_norm = "norm_added_k"};

Var Joined(Context& context, const Var& first, const Var& second) {
  const std::array<Var, 2> parts = {first, second};
  return Concat(context, parts, 1);
}

// Positions [begin, end).
Var PartOf(Context& context, const Var& x, std::int64_t begin, std::int64_t end) {
  return Slice(context, x, {{.axis = 1, .begin = begin, .end = end}});
}

}  // namespace

JointAttention::JointAttention(const JointAttentionOptions& options)
    : options_(options), x_projection_(options.features, options.heads, options.bias) {
  const std::int64_t width = options.heads.width();
  AddUnnamedChild("x", x_projection_);
  if (options.context_features > 0) {
    context_projection_ = std::make_unique<StreamProjection>(
        options.context_features, options.heads, options.context_bias, kContextNames);
    AddUnnamedChild("context", *context_projection_);
  }
  if (options.projects_output) {
    x_output_ = std::make_unique<Dense>(width, DenseOptions{.units = options.features});
    AddChild("to_out.0", *x_output_);
  }
  if (options.context_features > 0 && !options.ends_context) {
    context_output_ =
        std::make_unique<Dense>(width, DenseOptions{.units = options.context_features});
    AddChild("to_add_out", *context_output_);
  }
}

QueriesKeysValues JointAttention::Projected(Context& context, const Streams& in,
                                            const RotateHeads& rotate) {
  QueriesKeysValues x = x_projection_(context, in.x);
  if (rotate) {
    x.q = rotate(context, x.q);
    x.k = rotate(context, x.k);
  }
  if (!context_projection_) return x;
  const QueriesKeysValues other = (*context_projection_)(context, in.context);
  x.q = Joined(context, x.q, other.q);
  x.k = Joined(context, x.k, other.k);
  x.v = Joined(context, x.v, other.v);
  return x;
}

Var JointAttention::Output(Context& context, const Var& tokens, const Shape& x) {
  if (!x_output_) return tokens;
  return Reshape(context, (*x_output_)(context, tokens), x);
}

Streams JointAttention::operator()(Context& context, const Streams& in, const RotateHeads& rotate,
                                   const Tensor& mask) {
  Var attended;
  {
    const QueriesKeysValues all = Projected(context, in, rotate);
    const StreamHeads& heads = options_.heads;
    attended = Attention(context, {all.q}, {all.k}, {all.v},
                         {.heads = heads.heads,
                          .key_heads = heads.heads,
                          .head_size = heads.head_size,
                          .mask = mask});
  }
  if (!context_projection_) return {Output(context, attended, in.x.shape()), {}};
  const std::int64_t all = attended.shape()[1];
  const std::int64_t own = all - in.context.shape()[1];
  Streams out;
  out.x = Output(context, PartOf(context, attended, 0, own), in.x.shape());
  if (context_output_) {
    out.context = (*context_output_)(context, PartOf(context, attended, own, all));
  }
  return out;
}

}  // namespace frugal

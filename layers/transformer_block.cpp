#include "layers/transformer_block.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/sequence.h"

namespace frugal {
namespace {

const AttentionNames kNames = {
    .query = "to_q", .key = "to_k", .value = "to_v", .output = "to_out.0"};

AttentionLayerOptions AttentionOf(const TransformerBlockOptions& options) {
  return {.heads = options.heads, .bias = false, .output_bias = true, .fused = false};
}

}  // namespace

Var RunAndAdd(Context& context, Layer& layer, const Var& input, const Var& around) {
  const std::optional<Projection> last = layer.LastProjection();
  if (!last) return Add(context, layer(context, input), around);
  const Var features = layer.RunUpToProjection(context, input);
  return Linear(context, features, *last->weight, last->bias, {.layout = last->layout}, around);
}

GegluFeedForward::GegluFeedForward(std::int64_t features)
    : in_(features, {.units = 8 * features}), out_(4 * features, {.units = features}) {
  AddChild("net.0.proj", in_);
  AddChild("net.2", out_);
}

Var GegluFeedForward::operator()(Context& context, const Var& x, const Var& around) {
  const Var gated = Gated(context, in_(context, x), Activation::kGelu, true);
  return RunAndAdd(context, out_, gated, around);
}

TransformerBlock::TransformerBlock(const TransformerBlockOptions& options)
    : only_context_(options.only_context),
      norm1_(options.features, {}),
      self_(options.features, AttentionOf(options), kNames,
            options.only_context ? options.context_features : 0),
      norm2_(options.features, {}),
      cross_(options.features, AttentionOf(options), kNames, options.context_features),
      norm3_(options.features, {}),
      feed_forward_(options.features) {
  AddChild("norm1", norm1_);
  AddChild("attn1", self_);
  AddChild("norm2", norm2_);
  AddChild("attn2", cross_);
  AddChild("norm3", norm3_);
  AddChild("ff", feed_forward_);
}

Var TransformerBlock::SelfAttend(Context& context, const Var& x, const Var& memory) {
  const Var normed = norm1_(context, x);
  if (!only_context_) return RunAndAdd(context, self_, normed, x);
  return Add(context, self_.Attend(context, normed, memory), x);
}

Var TransformerBlock::CrossAttend(Context& context, const Var& x, const Var& memory) {
  return Add(context, cross_.Attend(context, norm2_(context, x), memory), x);
}

Var TransformerBlock::FeedForward(Context& context, const Var& x) {
  return feed_forward_(context, norm3_(context, x), x);
}

Var TransformerBlock::operator()(Context& context, const Var& x, const Var& memory) {
  Var h = SelfAttend(context, x, memory);
  h = CrossAttend(context, h, memory);
  return FeedForward(context, h);
}

}  // namespace frugal

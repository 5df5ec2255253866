#include "layers/blocks/transformer_block.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/gated.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

const AttentionNames kNames = {
    .query = "to_q", .key = "to_k", .value = "to_v", .output = "to_out.0"};

AttentionNames NamesOf(const ContextUse& use) {
  AttentionNames names = kNames;
  if (use.image_tokens == 0) return names;
  names.second_key = "processor.to_k_ip.0";
  names.second_value = "processor.to_v_ip.0";
  return names;
}

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
      image_tokens_(options.context.image_tokens),
      norm1_(options.features, {}),
      self_(options.features, AttentionOf(options), kNames,
            options.only_context ? options.context_features : 0),
      norm2_(options.features, {}),
      norm3_(options.features, {}),
      feed_forward_(options.features) {
  AddChild("norm1", norm1_);
  AddChild("attn1", self_);
  AddChild("norm2", norm2_);
  if (!options.context.skipped) {
    cross_.emplace(options.features, AttentionOf(options), NamesOf(options.context),
                   options.context_features);
    AddChild("attn2", *cross_);
  }
  AddChild("norm3", norm3_);
  AddChild("ff", feed_forward_);
}

Var TransformerBlock::SelfAttend(Context& context, const Var& x, const Var& memory) {
  const Var normed = norm1_(context, x);
  if (!only_context_) return RunAndAdd(context, self_, normed, x);
  return Add(context, self_.Attend(context, normed, memory), x);
}

Var TransformerBlock::CrossAttend(Context& context, const Var& x, const Var& memory) {
  const Var normed = norm2_(context, x);
  return Add(context, cross_ ? AttendToContext(context, normed, memory) : normed, x);
}

Var TransformerBlock::AttendToContext(Context& context, const Var& normed, const Var& memory) {
  if (image_tokens_ == 0) return cross_->Attend(context, normed, memory);
  const std::int64_t all = memory.shape()[1];
  const Var text = Slice(context, memory, {{1, 0, all - image_tokens_}});
  const Var image = Slice(context, memory, {{1, all - image_tokens_, all}});
  return cross_->AttendBoth(context, normed, text, image);
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

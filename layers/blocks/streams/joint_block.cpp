#include "layers/blocks/streams/joint_block.h"

#include "layers/blocks/parts.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/rotary.h"

namespace frugal {
namespace {

using architectures::Chunks;

constexpr double kEpsilon = 1e-6;

DenseOptions ModulationOf(std::int64_t features, std::int64_t parts) {
  return {.units = parts * features, .initializer = Initializer::Zero()};
}

// Parts of the modulations: shift, scale, gate of attention, the same of the feed-forward part and,
// of x, of a second attention; of a context that ends, scale and shift.
std::int64_t PartsOf(const JointBlockOptions& options) { return options.second_attention ? 9 : 6; }
std::int64_t ContextPartsOf(const JointBlockOptions& options) {
  return options.ends_context ? 2 : 6;
}

StreamModulation FeedForwardPart(const std::vector<Var>& m) { return {m[3], m[4], m[5]}; }

}  // namespace

JointBlock::JointBlock(const JointBlockOptions& options)
    : options_(options),
      modulation_(options.features, ModulationOf(options.features, PartsOf(options))),
      context_modulation_(options.features,
                          ModulationOf(options.features, ContextPartsOf(options))),
      attention_({.features = options.features,
                  .heads = options.heads,
                  .context_features = options.features,
                  .ends_context = options.ends_context}),
      feed_forward_(options.features, {.inner = 4 * options.features}) {
  AddChild("norm1.linear", modulation_);
  AddChild("norm1_context.linear", context_modulation_);
  AddChild("attn", attention_);
  AddChild("ff", feed_forward_);
  if (options.second_attention) {
    second_attention_ = std::make_unique<JointAttention>(
        JointAttentionOptions{.features = options.features, .heads = options.heads});
    AddChild("attn2", *second_attention_);
  }
  if (!options.ends_context) {
    context_feed_forward_ = std::make_unique<StreamFeedForward>(
        options.features, StreamFeedForwardOptions{.inner = 4 * options.features});
    AddChild("ff_context", *context_feed_forward_);
  }
}

std::string JointBlock::Describe() const {
  return "modulated block of two streams of " + std::to_string(options_.features) + ", " +
         std::to_string(options_.heads.heads) + " heads" +
         (options_.second_attention ? ", a second attention" : "") +
         (options_.rotary ? ", rotary" : "");
}

Var JointBlock::NormedContext(Context& context, const Var& text, const std::vector<Var>& m) const {
  const bool ends = options_.ends_context;
  return ModulatedLayerNorm(context, text, {}, kEpsilon, m[ends ? 1 : 0], m[ends ? 0 : 1]);
}

RotateHeads JointBlock::RotationOf(const VarTuple& vars) const {
  if (!options_.rotary) return {};
  return RotationBy(options_.heads, vars[3].value, vars[4].value);
}

void JointBlock::ForwardTuple(Context& context, VarTuple& vars) {
  Var& x = vars[0];
  Var& text = vars[1];
  const std::vector<Var> m = Chunks(context, modulation_(context, vars[2]), PartsOf(options_));
  const std::vector<Var> n =
      Chunks(context, context_modulation_(context, vars[2]), ContextPartsOf(options_));
  const Var normed = ModulatedLayerNorm(context, x, {}, kEpsilon, m[0], m[1]);
  const Streams attended =
      attention_(context, {normed, NormedContext(context, text, n)}, RotationOf(vars));
  Var again;
  if (second_attention_) {
    again = ModulatedLayerNorm(context, x, {}, kEpsilon, m[6], m[7]);
    again = (*second_attention_)(context, {again, {}}).x;
  }
  x = GatedAdd(context, attended.x, m[2], x);
  if (second_attention_) x = GatedAdd(context, again, m[8], x);
  x = AddFeedForward(context, feed_forward_, FeedForwardPart(m), x);
  if (options_.ends_context) {
    vars.erase(vars.begin() + 1);
    return;
  }
  text = GatedAdd(context, attended.context, n[2], text);
  text = AddFeedForward(context, *context_feed_forward_, FeedForwardPart(n), text);
}

RotateHeads RotationBy(const StreamHeads& heads, const Tensor& cosine, const Tensor& sine) {
  return [heads, cosine, sine](Context& context, const Var& x) {
    return Rotate(context, x,
                  {.heads = heads.heads,
                   .head_size = heads.head_size,
                   .rotary_size = heads.head_size,
                   .pairing = RotaryPairing::kNeighbours},
                  cosine, sine);
  };
}

}  // namespace frugal

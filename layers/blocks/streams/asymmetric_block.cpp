#include "layers/blocks/streams/asymmetric_block.h"

#include "layers/blocks/parts.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/rotary.h"

namespace frugal {
namespace {

using architectures::Chunks;

constexpr double kEpsilon = 1e-6;

// Features inside a feed-forward part.
std::int64_t InnerOf(std::int64_t features) { return 8 * features / 3; }

DenseOptions ModulationOf(std::int64_t units) {
  return {.units = units, .initializer = Initializer::Zero()};
}

Var Scaled(Context& context, const Var& x, const Var& scale) {
  return Modulate(context, RmsNorm(context, x, nullptr, kEpsilon), {}, scale);
}

// x + tanh(gate) norm(part)
Var AddNormed(Context& context, const Var& part, const Var& gate, const Var& x) {
  const Var normed = RmsNorm(context, part, nullptr, kEpsilon);
  return GatedAdd(context, normed, Activate(context, gate, Activation::kTanh), x);
}

// m: the scale before attention and the gate behind it, then of the feed-forward part.
Var Updated(Context& context, StreamFeedForward& part, const std::vector<Var>& m,
            const Var& attended, const Var& given) {
  const Var x = AddNormed(context, attended, m[1], given);
  return AddNormed(context, part(context, Scaled(context, x, m[2])), m[3], x);
}

RotateHeads RotationByLearned(const StreamHeads& heads, const Var& cosine, const Var& sine) {
  return [=](Context& context, const Var& x) {
    const Shape& shape = x.shape();
    const Var split = Reshape(context, x, {shape[0], shape[1], heads.heads, heads.head_size});
    return Reshape(context, RotateBy(context, split, cosine, sine), shape);
  };
}

}  // namespace

AsymmetricBlock::AsymmetricBlock(const AsymmetricBlockOptions& options)
    : options_(options),
      modulation_(options.features, ModulationOf(4 * options.features)),
      context_modulation_(options.features,
                          ModulationOf((options.ends_context ? 1 : 4) * options.context_features)),
      attention_({.features = options.features,
                  .heads = options.heads,
                  .bias = false,
                  .context_features = options.context_features,
                  .context_bias = false,
                  .ends_context = options.ends_context}),
      feed_forward_(
          options.features,
          {.inner = InnerOf(options.features), .kind = options.feed_forward, .bias = false}) {
  AddChild("norm1.linear", modulation_);
  AddChild(options.ends_context ? "norm1_context.linear_1" : "norm1_context.linear",
           context_modulation_);
  AddChild("attn1", attention_);
  AddChild("ff", feed_forward_);
  if (options.ends_context) return;
  context_feed_forward_ = std::make_unique<StreamFeedForward>(
      options.context_features,
      StreamFeedForwardOptions{
          .inner = InnerOf(options.context_features), .kind = options.feed_forward, .bias = false});
  AddChild("ff_context", *context_feed_forward_);
}

std::string AsymmetricBlock::Describe() const {
  return "modulated block of two streams of " + std::to_string(options_.features) + " and " +
         std::to_string(options_.context_features) + ", " + std::to_string(options_.heads.heads) +
         " heads, learned rotary";
}

void AsymmetricBlock::ForwardTuple(Context& context, VarTuple& vars) {
  Var& x = vars[0];
  Var& text = vars[1];
  const bool ends = options_.ends_context;
  const std::vector<Var> m = Chunks(context, modulation_(context, vars[2]), 4);
  const std::vector<Var> n = Chunks(context, context_modulation_(context, vars[2]), ends ? 1 : 4);
  const Streams attended =
      attention_(context, {Scaled(context, x, m[0]), Scaled(context, text, n[0])},
                 RotationByLearned(options_.heads, vars[3], vars[4]), vars[5].value);
  x = Updated(context, feed_forward_, m, attended.x, x);
  if (ends) {
    vars.erase(vars.begin() + 1);
  } else {
    text = Updated(context, *context_feed_forward_, n, attended.context, text);
  }
}

}  // namespace frugal

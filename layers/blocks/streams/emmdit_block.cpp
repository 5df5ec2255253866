#include "layers/blocks/streams/emmdit_block.h"

#include <cmath>

#include "layers/blocks/parts.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal {
namespace {

constexpr double kEpsilon = 1e-5;  // of the norms with weights

}  // namespace

EmmditBlock::EmmditBlock(const EmmditBlockOptions& options)
    : options_(options),
      affine_(AddAffine("")),
      norm_(AddNorm("norm1")),
      context_norm_(AddNorm("norm1_context")),
      attention_({.features = options.features,
                  .heads = options.heads,
                  .context_features = options.features,
                  .ends_context = options.ends_context}),
      feed_forward_(options.features, {.inner = 3 * options.features}) {
  AddChild("attn", attention_);
  AddChild("ff", feed_forward_);
  if (options.ends_context) return;
  context_affine_ = AddAffine("_c");
  context_feed_forward_ = std::make_unique<StreamFeedForward>(
      options.features, StreamFeedForwardOptions{.inner = 3 * options.features});
  AddChild("ff_context", *context_feed_forward_);
}

EmmditBlock::Affine EmmditBlock::AddAffine(const std::string& ending) {
  const Initializer start =
      Initializer::Normal(0, 1 / std::sqrt(static_cast<double>(options_.features)));
  return {&AddParameter("scale_shift_scale" + ending, {6, options_.features}, start),
          &AddParameter("scale_shift_bias" + ending, {6, options_.features}, start)};
}

EmmditBlock::Norm EmmditBlock::AddNorm(const std::string& name) {
  const Shape shape = {options_.features};
  return {&AddParameter(name + ".weight", shape, Initializer::Constant(1)),
          &AddParameter(name + ".bias", shape, Initializer::Zero())};
}

std::string EmmditBlock::Describe() const {
  return "modulated block of two streams of " + std::to_string(options_.features) + ", " +
         std::to_string(options_.heads.heads) + " heads" +
         (options_.regions.parts > 1
              ? ", within " + std::to_string(options_.regions.parts) + " parts"
              : "");
}

std::vector<Var> EmmditBlock::ModulationOf(Context& context, const Affine& affine,
                                           const Var& m) const {
  const Shape row = {1, 6 * options_.features};
  const Var scale = Reshape(context, ValueOf(context, *affine.scale), row);
  const Var shift = Reshape(context, ValueOf(context, *affine.shift), row);
  const Var scaled = Add(context, m, Arithmetic(context, BinaryKind::kMultiply, m, scale));
  return architectures::Chunks(context, Arithmetic(context, BinaryKind::kAdd, scaled, shift), 6);
}

Var EmmditBlock::NormedContext(Context& context, const Var& text, const std::vector<Var>& m) const {
  const NormParameters norm = {context_norm_.weight, context_norm_.bias};
  if (options_.ends_context) return LayerNorm(context, text, norm, kEpsilon);
  return ModulatedLayerNorm(context, text, norm, kEpsilon, m[0], m[1]);
}

Streams EmmditBlock::Attended(Context& context, const Var& x, const Var& text) {
  const Subregions& regions = options_.regions;
  const Streams parts = {SplitIn(context, regions, TokensOf(context, x)),
                         SplitIn(context, regions, text)};
  Streams out = attention_(context, parts);
  out.x = Reshape(context, JoinedFrom(context, regions, out.x), x.shape());
  if (!options_.ends_context) out.context = JoinedFrom(context, regions, out.context);
  return out;
}

void EmmditBlock::ForwardTuple(Context& context, VarTuple& vars) {
  Var& x = vars[0];
  Var& text = vars[1];
  const std::vector<Var> m = ModulationOf(context, affine_, vars[2]);
  std::vector<Var> n;
  if (!options_.ends_context) n = ModulationOf(context, context_affine_, vars[2]);
  const Var normed =
      ModulatedLayerNorm(context, x, {norm_.weight, norm_.bias}, kEpsilon, m[0], m[1]);
  const Streams attended = Attended(context, normed, NormedContext(context, text, n));
  x = GatedAdd(context, attended.x, m[2], x);
  x = AddFeedForward(context, feed_forward_, {m[3], m[4], m[5]}, x);
  if (options_.ends_context) {
    vars.erase(vars.begin() + 1);
    return;
  }
  text = GatedAdd(context, attended.context, n[2], text);
  text = AddFeedForward(context, *context_feed_forward_, {n[3], n[4], n[5]}, text);
}

}  // namespace frugal

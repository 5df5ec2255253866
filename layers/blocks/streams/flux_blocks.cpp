#include "layers/blocks/streams/flux_blocks.h"

#include <array>

#include "layers/blocks/parts.h"
#include "layers/blocks/streams/joint_block.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

constexpr double kEpsilon = 1e-6;

// Rows before the table of positions, for tokens at 0: all cosines 1, all sines 0.
Var WithLeading(Context& context, const Var& table, std::int64_t rows, double value) {
  return Pad(context, {table.value}, {rows, 0}, {0, 0}, value);
}

}  // namespace

void StreamJoin::ForwardTuple(Context& context, VarTuple& vars) {
  const std::int64_t leading = vars[1].shape()[1];
  const std::array<Var, 2> streams = {vars[1], vars[0]};
  const Var cosine = {vars[3].value};
  vars = {Concat(context, streams, 1), vars[2], WithLeading(context, cosine, leading, 1),
          WithLeading(context, vars[4], leading, 0), cosine};
}

SingleStreamBlock::SingleStreamBlock(std::int64_t features, const StreamHeads& heads)
    : heads_(heads),
      modulation_(features, {.units = 3 * features, .initializer = Initializer::Zero()}),
      attention_({.features = features, .heads = heads, .projects_output = false}),
      up_(features, {.units = 4 * features, .activation = Activation::kGeluTanh}),
      output_(heads.width() + 4 * features, {.units = features}) {
  AddChild("norm.linear", modulation_);
  AddChild("attn", attention_);
  AddChild("proj_mlp", up_);
  AddChild("proj_out", output_);
}

std::string SingleStreamBlock::Describe() const {
  return "modulated block of one stream, " + std::to_string(heads_.heads) + " heads, " +
         output_.Describe();
}

void SingleStreamBlock::ForwardTuple(Context& context, VarTuple& vars) {
  Var& x = vars[0];
  const std::vector<Var> m = architectures::Chunks(context, modulation_(context, vars[1]), 3);
  Var both;
  {
    const Var normed = ModulatedLayerNorm(context, x, {}, kEpsilon, m[0], m[1]);
    const RotateHeads rotate = RotationBy(heads_, vars[2].value, vars[3].value);
    const std::array<Var, 2> parts = {attention_(context, {normed, {}}, rotate).x,
                                      up_(context, normed)};
    both = Concat(context, parts, 2);
  }
  x = GatedAdd(context, output_(context, both), m[2], x);
}

}  // namespace frugal

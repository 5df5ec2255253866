#include "layers/blocks/streams/stream_projection.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/norm.h"

namespace frugal {

StreamProjection::StreamProjection(std::int64_t features, const StreamHeads& heads, bool bias,
                                   const StreamProjectionNames& names)
    : heads_(heads),
      query_(features, {.units = heads.width(), .bias = bias}),
      key_(features, {.units = heads.width(), .bias = bias}),
      value_(features, {.units = heads.width(), .bias = bias}),
      query_norm_(AddNorm(names.query_norm)),
      key_norm_(AddNorm(names.key_norm)) {
  AddChild(names.query, query_);
  AddChild(names.key, key_);
  AddChild(names.value, value_);
}

StreamProjection::Norm StreamProjection::AddNorm(const std::string& name) {
  if (heads_.norm == QueryKeyNorm::kNone) return {};
  Norm norm;
  norm.weight = &AddParameter(name + ".weight", {heads_.head_size}, Initializer::Constant(1));
  if (heads_.norm == QueryKeyNorm::kLayer) {
    norm.bias = &AddParameter(name + ".bias", {heads_.head_size}, Initializer::Zero());
  }
  return norm;
}

Var StreamProjection::Normed(Context& context, const Norm& norm, const Var& x) const {
  if (heads_.norm == QueryKeyNorm::kNone) return x;
  const Shape& shape = x.shape();
  const Var split = Reshape(context, x, {shape[0], shape[1], heads_.heads, heads_.head_size});
  const Var normed = heads_.norm == QueryKeyNorm::kRms
                         ? RmsNorm(context, split, norm.weight, heads_.eps)
                         : LayerNorm(context, split, {norm.weight, norm.bias}, heads_.eps);
  return Reshape(context, normed, shape);
}

QueriesKeysValues StreamProjection::operator()(Context& context, const Var& x) {
  const Var tokens = TokensOf(context, x);
  QueriesKeysValues all;
  all.q = Normed(context, query_norm_, query_(context, tokens));
  all.k = Normed(context, key_norm_, key_(context, tokens));
  all.v = value_(context, tokens);
  return all;
}

Var TokensOf(Context& context, const Var& grid) {
  const Shape& shape = grid.shape();
  if (shape.rank() == 3) return grid;
  const std::int64_t tokens = shape.RowCount() / shape[0];
  return Reshape(context, grid, {shape[0], tokens, shape.back()});
}

}  // namespace frugal

#include "layers/blocks/streams/token_compression.h"

#include <array>

#include "layers/blocks/streams/stream_projection.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/patches.h"

namespace frugal {

PointwisePair::PointwisePair(std::int64_t inputs, std::int64_t outputs)
    : first_(inputs, {.filters = outputs, .kernel = {1, 1}, .activation = Activation::kGeluTanh}),
      second_(outputs, {.filters = outputs, .kernel = {1, 1}}) {
  AddChild("1", first_);
  AddChild("3", second_);
}

Var PointwisePair::operator()(Context& context, const Var& grid) {
  return second_(context, first_(context, grid));
}

TokenCompressor::TokenCompressor(std::int64_t features)
    : body2_(4 * features, features), body4_(16 * features, features) {
  AddChild("body2x", body2_);
  AddChild("body4x", body4_);
}

void TokenCompressor::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = vars[0];
  constexpr auto kOrder = PatchOrder::kChannelsFirst;
  const std::array<Var, 2> parts = {
      TokensOf(context, body2_(context, PatchesOf(context, x, 2, kOrder))),
      TokensOf(context, body4_(context, PatchesOf(context, x, 4, kOrder)))};
  vars[0] = Concat(context, parts, 1);
  PushSkip(vars, x);
}

TokenReconstructor::TokenReconstructor(std::int64_t features, double first, double step)
    : first_position_(first),
      step_(step),
      body2_(features / 4, features),
      body4_(features / 16, features),
      first_(3 * features, {.units = features, .activation = Activation::kGeluTanh}),
      second_(features, {.units = features}) {
  AddChild("body2x", body2_);
  AddChild("body4x", body4_);
  AddChild("mergers.0", first_);
  AddChild("mergers.2", second_);
}

Var TokenReconstructor::Spread(Context& context, PointwisePair& body, const Var& tokens,
                               const Shape& x, std::int64_t factor) {
  const Var squares = Reshape(context, tokens, {x[0], x[1] / factor, x[2] / factor, x[3]});
  return body(context, ImageOf(context, squares, factor, PatchOrder::kChannelsFirst));
}

Var TokenReconstructor::Positions(Context& context, const Shape& x) const {
  const AxisPositions rows = {
      .count = x[1], .rotary_size = x[3] / 2, .first = first_position_, .step = step_};
  AxisPositions columns = rows;
  columns.count = x[2];
  const Var table = SinusoidsOfAxes(context, {rows, columns}, {1, 0});
  return Reshape(context, table, {1, x[1], x[2], x[3]});
}

void TokenReconstructor::ForwardTuple(Context& context, VarTuple& vars) {
  const Var before = PopSkip(vars);
  const Shape& x = before.shape();
  const std::int64_t halves = x[1] * x[2] / 4;
  const Var tokens = std::exchange(vars[0], Var());
  const Var small = Slice(context, tokens, {{1, 0, halves}});
  const Var large = Slice(context, tokens, {{1, halves, tokens.shape()[1]}});
  const std::array<Var, 3> parts = {Spread(context, body2_, small, x, 2),
                                    Spread(context, body4_, large, x, 4), before};
  const Var merged = second_(context, first_(context, Concat(context, parts, 3)));
  vars[0] = Arithmetic(context, BinaryKind::kAdd, merged, Positions(context, x));
}

}  // namespace frugal

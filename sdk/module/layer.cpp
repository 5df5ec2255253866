#include "sdk/module/layer.h"

#include <array>
#include <utility>

#include "sdk/core/error.h"

namespace frugal {
namespace {

std::string_view LabelOf(const Layer& layer) {
  return layer.path().empty() ? std::string_view("model") : layer.path();
}

}  // namespace

std::string_view NameOf(LayerKind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"dense", "convolution", "pooling", "norm", "activation", "dropout", "reshape", "attention",
       "residual", "sequential", "embedding", "recurrent", "block"});
  static_assert(names.size() == static_cast<std::size_t>(LayerKind::kCount));
  return names[static_cast<std::size_t>(kind)];
}

Var Layer::operator()(Context& context, const Var& input) {
  const LabelScope label(context, LabelOf(*this));
  CheckIsTaken(input);
  if (recompute_ == Recompute::kWithOthers) return Forward(context, input);
  VarTuple vars = {input};
  RunPart(context, vars, [this](Context& ctx, VarTuple& inner) {
    inner[0] = Forward(ctx, std::exchange(inner[0], Var()));
  });
  return std::move(vars[0]);
}

void Layer::RunPart(Context& context, VarTuple& vars, const TupleSegment& work) const {
  switch (recompute_) {
    case Recompute::kWithOthers:
      return work(context, vars);
    case Recompute::kNever:
      return RunOnce(context, vars, work);
    case Recompute::kAlways:
      return Checkpoint(context, vars, work);
  }
}

void Layer::operator()(Context& context, VarTuple& vars) {
  const LabelScope label(context, LabelOf(*this));
  CheckIsTaken(vars[0]);
  if (recompute_ == Recompute::kWithOthers) return ForwardTuple(context, vars);
  RunPart(context, vars, [this](Context& ctx, VarTuple& inner) { ForwardTuple(ctx, inner); });
}

void Layer::CheckIsTaken(const Var& input) const {
  if (input.value.dtype() != DType::kI64 || TakesTokens()) return;
  throw ShapeError({.where = path(),
                    .required = "the layer takes values",
                    .given = "the input is token numbers " + ToString(input.shape()),
                    .advice = "put an embedding before it, or use other data"});
}

void Layer::ForwardTuple(Context& context, VarTuple& vars) {
  vars[0] = Forward(context, std::exchange(vars[0], Var()));
}

Var TupleLayer::Forward(Context&, const Var&) {
  throw UsageError({.where = path(),
                    .required = "the layer takes several variables (" + Describe() + ")",
                    .given = "one",
                    .advice = "give it a VarTuple of all its inputs"});
}

Var Layer::RunUpToProjection(Context& context, const Var& input) {
  const LabelScope label(context, LabelOf(*this));
  if (recompute_ == Recompute::kWithOthers) return ForwardUpToProjection(context, input);
  VarTuple vars = {input};
  RunPart(context, vars, [this](Context& ctx, VarTuple& inner) {
    inner[0] = ForwardUpToProjection(ctx, std::exchange(inner[0], Var()));
  });
  return std::move(vars[0]);
}

}  // namespace frugal

#include "layers/blocks/streams/modulated_output.h"

#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {
namespace {

constexpr double kEpsilon = 1e-6;

}  // namespace

ModulatedOutput::ModulatedOutput(std::int64_t features, std::int64_t outputs)
    : modulation_(features, {.units = 2 * features, .initializer = Initializer::Zero()}),
      projection_(features, {.units = outputs, .initializer = Initializer::Zero()}) {
  AddChild("norm_out.linear", modulation_);
  AddChild("proj_out", projection_);
}

Var ModulatedOutput::operator()(Context& context, const Var& x, const Var& c) {
  const std::int64_t features = x.shape().back();
  const Var m = modulation_(context, c);
  const Var scale = Slice(context, m, {{1, 0, features}});
  const Var shift = Slice(context, m, {{1, features, 2 * features}});
  return projection_(context, ModulatedLayerNorm(context, x, {}, kEpsilon, shift, scale));
}

}  // namespace frugal

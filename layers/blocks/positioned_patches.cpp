#include "layers/blocks/positioned_patches.h"

#include "sdk/module/parameter_store.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {

PositionedPatches::PositionedPatches(const PositionedPatchesOptions& options)
    : options_(options),
      patches_(options.patches),
      table_(AddBuffer("pos_embed",
                       {1, options.longest * options.longest, options.patches.features},
                       Initializer::GridSinusoid(options.longest, options.step))) {
  AddChild("proj", patches_);
}

std::string PositionedPatches::Describe() const {
  return patches_.Describe() + ", positions of a grid of " + std::to_string(options_.longest);
}

Var PositionedPatches::Positions(Context& context, std::int64_t height, std::int64_t width) const {
  const std::int64_t longest = options_.longest;
  const Tensor table = context.parameters().Value(table_);
  const Var grid = {table.Reshape({1, longest, longest, options_.patches.features})};
  const std::int64_t top = (longest - height) / 2;
  const std::int64_t left = (longest - width) / 2;
  return ToActivation(context,
                      Slice(context, grid, {{1, top, top + height}, {2, left, left + width}}));
}

Var PositionedPatches::Forward(Context& context, const Var& input) {
  const Var tokens = patches_(context, input);
  const Shape& x = input.shape();
  const std::int64_t height = x[1] / options_.patches.patch;
  const std::int64_t width = x[2] / options_.patches.patch;
  if (height > options_.longest || width > options_.longest) {
    ThrowShape(context,
               "its table of positions holds " + std::to_string(options_.longest) + " patches of " +
                   std::to_string(options_.patches.patch) + " along each axis",
               x, "give smaller images, or raise pos_embed_max_size");
  }
  const Var grid = Reshape(context, tokens, {x[0], height, width, options_.patches.features});
  return Arithmetic(context, BinaryKind::kAdd, grid, Positions(context, height, width));
}

}  // namespace frugal

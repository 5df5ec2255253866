#include "layers/blocks/video_patches.h"

#include "sdk/ops/elementwise.h"

namespace frugal {

Var PatchesOfFrames(Context& context, PatchTokens& patches, const Var& video, std::int64_t patch) {
  const Shape& x = video.shape();
  const Var frames = Reshape(context, video, {x[0] * x[1], x[2], x[3], x[4]});
  const Var tokens = patches(context, frames);
  return Reshape(context, tokens, {x[0], x[1], x[2] / patch, x[3] / patch, tokens.shape()[2]});
}

Var VideoOf(Context& context, const Var& grid, std::int64_t patch, PatchOrder order) {
  const Shape& x = grid.shape();
  const Var frames = Reshape(context, grid, {x[0] * x[1], x[2], x[3], x[4]});
  const Var images = ImageOf(context, frames, patch, order);
  const Shape& y = images.shape();
  return Reshape(context, images, {x[0], x[1], y[1], y[2], y[3]});
}

}  // namespace frugal

#pragma once

#include "layers/blocks/patch_tokens.h"
#include "sdk/ops/spatial/patches.h"

// Videos [N, F, H, W, C], whose frames are cut into patches one by one.
namespace frugal {

// A grid of tokens [N, F, H / p, W / p, features]. Throws ShapeError where p does not divide.
Var PatchesOfFrames(Context& context, PatchTokens& patches, const Var& video, std::int64_t patch);

// The way back from numbers of patches [N, F, h, w, p p C]: [N, F, h p, w p, C].
Var VideoOf(Context& context, const Var& grid, std::int64_t patch, PatchOrder order);

}  // namespace frugal

#pragma once

#include "sdk/autograd/context.h"

// Images [N, H, W, C] and their patches of p x p pixels. Each is a permutation; nothing is kept.
// ShapeError where p does not divide the image.
namespace frugal {

// Says in which order a patch's numbers lie.
enum class PatchOrder : std::uint8_t {
  kChannelsLast,   // (row, column, channel), as DiT's "unpatchify"
  kChannelsFirst,  // (channel, row, column), as PyTorch's PixelUnshuffle and FLUX's packed latents
};

// [N, H, W, C] -> [N, H / p, W / p, p p C]; of kChannelsFirst, PyTorch's PixelUnshuffle.
Var PatchesOf(Context& context, const Var& x, std::int64_t patch, PatchOrder order);

// The way back, [N, h, w, p p C] -> [N, h p, w p, C]; of kChannelsFirst, PyTorch's PixelShuffle.
Var ImageOf(Context& context, const Var& x, std::int64_t patch, PatchOrder order);

}  // namespace frugal

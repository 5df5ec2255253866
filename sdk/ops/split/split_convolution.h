#pragma once

#include "sdk/ops/spatial/convolution.h"
#include "sdk/ops/split/split_tensor.h"

namespace frugal {

// y [N, H', W', Cout] = x [N, H, W, Cin] * weight [Cout, Cin / groups, kernel...] + bias (or null),
// where x is split by SplitImages and y comes split so, by its own height and width. Every device
// holds the whole weight and bias.
//
// Each device receives the rows and columns (the halo) that its part of y reads and its part of x
// lacks, from as many neighbours as have them. Padding is the kernel's, and only where a window
// leaves the whole image; no zeros are made. Kernels read one contiguous image: where a device's
// window is not exactly its own part of x, the part and its halo are copied into a workspace for
// the time of a kernel, forward and again backward.
//
// Keeps its part of x and the halo where weight or bias is trained. In backward, gradients of what
// was borrowed go back and are added in a fixed order (in the element type of x), and those of
// weight and bias are summed over the grid, rows first, so that all devices have them, to the bit.
// All devices call it and run back from it, those with an empty part too.
//
// Throws ShapeError for what Convolution refuses, for x that is not split by SplitImages, and where
// padding of an axis that is split is not smaller than the kernel's reach along it.
SplitTensor SplitConvolution(Context& context, const SplitTensor& x, const Parameter& weight,
                             const Parameter* bias, const WindowOptions& options,
                             std::int64_t groups);

}  // namespace frugal

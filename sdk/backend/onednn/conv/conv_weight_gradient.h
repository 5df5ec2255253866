#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// The gradients of a convolution's weight and bias, in f32, of bf16 activations, on matrix tiles: a
// product of the outputs' gradient and the windows' inputs, summed over all output positions. Up to
// 2048 positions are taken at a time: panels (simd/amx/panel_product.h) of the gradient stay in the
// second cache of each core, while panels of 32 channels at one place of the window are gathered
// and meet all of them. Each sum has one order, whatever the number of threads.
// Scratch holds the sums, as large as the weight, beside some MB.
// nullptr where the processor has no matrix tiles, for groups, f32 and other passes.
std::unique_ptr<Operation> MakeConvWeightGradient(const ConvDescription& description);

// Returns true where that operation is faster than oneDNN's: between many channels, where windows
// have steps between them, are single places, or lie in short rows.
bool ConvWeightGradientPays(const ConvGeometry& geometry);

}  // namespace frugal::onednn

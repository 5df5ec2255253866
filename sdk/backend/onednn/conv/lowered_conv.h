#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// An f32 convolution, or a gradient of one, as products with the matrix of its windows
// (conv/im2col.h), some MB of it at a time. The weight is read, and its gradient written, where it
// lies, while oneDNN's kernels copy both into a layout of their own at each call. Products run in
// blocks of ours (gemm/blocked_gemm.h): their memory is in the scratch, and bits do not depend on
// the number of threads. nullptr without AVX2, for groups, other types and windows of more than 64
// places.
std::unique_ptr<Operation> MakeLoweredConv(const ConvDescription& description);

// Returns true where that is faster than oneDNN's kernels, with AVX2 alone, for windows of 3 x 3
// and of 1 x 1 (`./run bench convolutions` prints both): gradients of weights, and where many
// channels meet few positions or windows with steps between them.
bool LoweredConvPays(const ConvDescription& description);

// Returns true where it is faster than Winograd's method too: filters of many channels take longer
// to transform than few positions to gather.
bool LoweredConvBeatsWinograd(const ConvDescription& description);

}  // namespace frugal::onednn

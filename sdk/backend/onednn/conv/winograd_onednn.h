#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// An f32 convolution of 3 x 3 by oneDNN's Winograd method (winograd.h says what that is), which
// version 2 has for AVX-512. Its kernels read blocks of channels, so activations are copied on
// their way in and out, and still they are faster than the direct ones (bench_convolutions prints
// both); results are within 1e-5 of their size. Samples are taken some at a time, as many as fit a
// limit of scratch. Whether it pays, and in which parts, depends on the geometry alone; that has
// the batch in it, so a sample's last bits may differ between batches of different sizes. nullptr
// where that does not pay or is not there.
std::unique_ptr<Operation> MakeWinogradOneDnn(const ConvDescription& description,
                                              std::int64_t most_scratch);

// True where this oneDNN has it for this processor; elsewhere ours does the same.
bool HasWinogradOneDnn();

// The bytes that it may take: 32 MB, and no more than twice the activations.
std::int64_t WinogradOneDnnScratch(const ConvGeometry& geometry);

}  // namespace frugal::onednn

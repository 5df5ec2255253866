#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// An f32 convolution of 3 x 3 by Winograd's method (Lavin & Gray, Fast algorithms for convolutional
// neural networks, arXiv:1509.09308): outputs of 4 x 4 from tiles of 6 x 6, a quarter of the
// multiplications, within 1e-5 of the direct results' size. With loops of ours
// (simd/winograd/winograd_loops.h), for processors on which oneDNN has none. Activations are read
// and written where they lie, some tiles at a time: what is transformed stays in the caches until
// the products took it. Filters, or their gradients, are transformed as many at a time as
// `most_scratch` bytes allow. Each sum has one order, whatever the number of threads.
// nullptr where that does not pay, where the scratch is too little, and for activations other than
// relu.
std::unique_ptr<Operation> MakeWinograd(const ConvDescription& description,
                                        std::int64_t most_scratch);

// The bytes that it may take: 32 MB, and no more than twice the activations and four times the
// weight.
std::int64_t WinogradScratch(const ConvGeometry& geometry);

// The part of it that is for a weight's gradient.
std::unique_ptr<Operation> MakeWinogradWeightGradient(const ConvDescription& description,
                                                      std::int64_t most_scratch);

}  // namespace frugal::onednn

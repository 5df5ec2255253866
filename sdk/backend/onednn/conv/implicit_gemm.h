#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// A bf16 convolution's output, or its input's gradient, as products on matrix tiles: panels
// (simd/amx/panel_product.h) of what the windows of some positions read meet those of the weight,
// place by place of the window, and the sums, in f32, stay in the second cache until all places
// were added. So a weight, however large beside the activations, is read once for up to 512
// positions. With steps between windows, the positions of an input's gradient that see the same
// places are taken together, and nothing is multiplied with zeros. Each sum has one order, whatever
// the number of threads. Scratch holds the weight's panels in bf16 and about 1 MB for each thread.
// nullptr where the processor has no matrix tiles, for groups, f32, activations other than relu,
// and gradients of weights.
std::unique_ptr<Operation> MakeImplicitGemm(const ConvDescription& description);

// Returns true where that operation is the faster way: where a weight is large beside the
// activations and rows are short, and for gradients with steps, oneDNN reaches a third of this (512
// -> 512 at 4 x 4, 256 -> 512 by steps of 2); over wide images it reads the windows where they lie,
// up to three times as fast. bench_convolutions prints both.
bool ImplicitGemmPays(const ConvDescription& description);

}  // namespace frugal::onednn

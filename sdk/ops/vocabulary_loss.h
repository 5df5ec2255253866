#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

struct VocabularyLossOptions {
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;
  // Backward will be seeded with this number. Gradients are made beside the loss, chunk by chunk,
  // so that logits are neither kept nor computed twice.
  double seed = 1;
  std::int64_t chunk_rows = 0;  // 0: ChunkRows
};

struct VocabularyLoss {
  Var loss;                  // [1], the mean over positions whose target counts
  std::int64_t correct = 0;  // positions whose largest logit is the target's; 0 in a dry run
};

// Cross entropy of the logits x W^T + b against targets, as CrossEntropy(Linear(x)), without the
// logits [rows, V] ever being there as a whole: a chunk of rows is projected, compared, and, with a
// tape, turned into its gradients before the next one begins (the "linear cross entropy" of
// language models; Hsu et al., "Liger Kernel", arXiv:2410.10989). x [..., D], weight [V, D], bias
// [V] or null, targets kI64 of x's leading shape. Keeps the gradient of x. Throws UsageError where
// backward is seeded with another number than `seed`.
VocabularyLoss LinearCrossEntropy(Context& context, const Var& x, const Parameter& weight,
                                  const Parameter* bias, const Tensor& targets,
                                  const VocabularyLossOptions& options = {});

// Rows of a chunk: as many as give 8 million logits, or 256 where those are more, but no more than
// a quarter of all rows, or 256; of bf16, whose products take less time than the f32 gradient of
// the weight to pass by, 512.
std::int64_t ChunkRows(std::int64_t rows, std::int64_t vocabulary, DType dtype);

}  // namespace frugal

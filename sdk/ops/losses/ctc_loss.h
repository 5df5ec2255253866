#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// Connectionist temporal classification (Graves et al., "Connectionist Temporal Classification",
// ICML 2006): a scalar [1], the mean over samples of -log of the probability that the outputs spell
// the sample's labels, divided by how many these are (PyTorch's CTCLoss, reduction = "mean"), times
// its weight where options.sample_weights [N] has one. logits [N, T, C], all T steps of each
// sample; labels kI64 [N, L], each row padded at its end by options.padding. Keeps logits, in f32
// where they are bf16, and labels. Throws DataError on labels outside [0, C), the blank among them,
// and more of them than steps (options.zero_infinity: these count 0, as all whose probability is
// 0).
Var CtcLoss(Context& context, const Var& logits, const Tensor& labels,
            const CtcOptions& options = {});

}  // namespace frugal

#pragma once

#include <span>

#include "sdk/autograd/context.h"

namespace frugal {

struct WeightedCrossEntropy {
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;
  // Above 0 it is a focal loss: rows count (1 - p)^focusing, p the probability of their label
  // (Lin et al., "Focal Loss for Dense Object Detection", arXiv:1708.02002, over a softmax; the
  // paper's alpha of a class is its weight here).
  double focusing = 0;
  // One for each class, or none.
  std::span<const double> class_weights{};
  Tensor sample_weights{};  // [N] of the N samples of the logits, or none
};

// CrossEntropy (loss.h) of rows that do not count alike: the sum over rows that count of
//   sample weight * class weight of the label * (1 - p)^focusing * (-log p),
// divided by the sum of their class weights, as PyTorch's with `weight`; sample weights are divided
// by nothing. Logits [N, ..., V], targets kI64 of the leading shape. Keeps logits, in f32 where
// they are bf16, targets, one number per row and the class weights. Throws DataError on a label
// outside [0, V), ShapeError where there are not V class weights.
Var CrossEntropyOf(Context& context, const Var& logits, const Tensor& targets,
                   const WeightedCrossEntropy& loss);

}  // namespace frugal

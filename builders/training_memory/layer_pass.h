#pragma once

#include <memory>

#include "builders/dry_run/checkpoint_policy.h"
#include "builders/training_memory/layer_registry.h"
#include "sdk/autograd/tape.h"

namespace frugal {

// Layers that run one after the other, some of them in checkpointed segments.
struct LayerChain {
  LayerPointers layers;
  CheckpointSegments segments;
};
void RunChain(Context& context, const LayerChain& chain, VarTuple& vars);
// Tokens, or values in the context's element type: what chains take.
Var InActivationType(Context& context, const Var& x);

// A forward pass that waits for its backward pass.
struct LayerPass {
  Tape tape;
  int input_slot = Var::kNoGradient;
  int output_slot = Var::kNoGradient;
  Shape output_shape;
  DType output_dtype = DType::kF32;
  // The segments' second run needs these to draw the same random numbers.
  bool training = true;
  std::int64_t step = 0;
  std::int64_t micro_batch = 0;
};

// The chain's output, the first of what comes out of it; the pass holds what backward needs. The
// first of the inputs gets a gradient.
Tensor RunForward(Context& context, const LayerChain& chain, const VarTuple& inputs,
                  LayerPass& pass);
// The input's gradient, empty where it has none; parameters' gradients are added in the context's
// store. The pass is empty afterwards.
Tensor RunBackward(Context& context, const Tensor& output_gradient, LayerPass& pass);

}  // namespace frugal

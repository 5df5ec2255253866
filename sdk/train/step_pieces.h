#pragma once

#include <cstddef>
#include <string>

#include "sdk/autograd/activation_pager.h"
#include "sdk/optim/optimizer.h"
#include "sdk/train/batch.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Reads a batch, with the noise of a diffusion process in it, its inputs as the network takes them.
Batch ReadInputs(Context& context, const StepParts& parts, const DataSource* source,
                 std::span<const std::int64_t> samples);

// The loss of one batch; its inputs and the output are released as early as the tape allows.
struct Evaluated {
  Var loss;
  StepResult result;
};
// Runs the network and the loss, whose share of the step backward is seeded with.
Evaluated RunForward(Context& context, const StepParts& parts, Batch batch, double share = 1);

void RunBackward(Context& context, Tape& tape, int loss_slot, double seed);

// While it lives, parameters are updated as soon as their gradients are final.
class UpdatesInBackward {
 public:
  UpdatesInBackward(Context& context, const StepParts& parts, const Optimizer& optimizer);
  UpdatesInBackward(const UpdatesInBackward&) = delete;
  UpdatesInBackward& operator=(const UpdatesInBackward&) = delete;
  ~UpdatesInBackward();

 private:
  Context& context_;
  bool active_;
};

// Adds what rows contributed to a table to what matrices did (ParameterStore::TableGradientFor).
void JoinTable(Context& context, const Parameter& parameter);

// Returns the gradient of this step, or one that adds nothing where no micro-batch had samples
// here.
Tensor GradientOrNone(Context& context, const Parameter& parameter);

// Sums gradients and losses in as many groups of micro-batches as the step has
// (StepParts::reduction_groups).
class ReductionGroups {
 public:
  // So many of the step's micro-batches run here.
  ReductionGroups(Context& context, const StepParts& parts, std::int64_t count);

  // Tables are summed apart where several micro-batches contribute to a sum.
  bool tables_apart() const { return in_group_ > 1; }

  // To be called before each micro-batch, in their order. The loss over a vocabulary makes
  // gradients in its forward pass.
  void Begin(std::int64_t micro_batch);
  // To be called behind the last one. Then tables are one sum.
  void End();

 private:
  void EndGroup();

  Context& context_;
  std::int64_t in_group_;
  std::int64_t group_ = 0;
};

// To be called before the forward pass of a micro-batch. Those between their passes at the same
// time have lanes of their own.
inline void BeginForward(Context& context, std::size_t lane = 0) {
  if (context.activation_pager() != nullptr) context.activation_pager()->Begin(lane);
}

class MicroBatchScope {
 public:
  MicroBatchScope(Context& context, std::int64_t number) : context_(context) {
    context_.set_micro_batch(number);
  }
  MicroBatchScope(const MicroBatchScope&) = delete;
  MicroBatchScope& operator=(const MicroBatchScope&) = delete;
  ~MicroBatchScope() { context_.set_micro_batch(0); }

 private:
  Context& context_;
};

// Throws DivergenceError where parts.on_divergence asks for it and the value is not finite.
void RequireFinite(const Context& context, const StepParts& parts, const std::string& what,
                   double value);

// The first sample and the number of samples of part `index` of a batch in `parts` parts.
struct MicroBatchRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
MicroBatchRange MicroBatchAt(std::int64_t batch, std::int64_t parts, std::int64_t index);

// Allocates a network's inputs for `count` samples and fills them with the program's values.
VarTuple InputsFrom(Context& context, const StepParts& parts, std::span<const InputValues> inputs,
                    std::int64_t count);
// Copies a network's outputs to the program, as f32.
void CopyOutputs(Context& context, VarTuple vars, PredictedValues& outputs);

}  // namespace frugal

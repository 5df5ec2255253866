#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/module/layer.h"
#include "sdk/train/batch.h"
#include "sdk/train/diffusion.h"
#include "sdk/train/divergence.h"
#include "sdk/train/loss.h"
#include "sdk/train/network_output.h"

namespace frugal {

// Takes what the network made of a batch of an evaluation, what it should have made, and the loss.
using OutputsFunction =
    std::function<void(const Tensor& outputs, const Tensor& targets, double loss)>;

// Holds what a step works on. The same functions below run dry, to plan, and for real.
struct StepParts {
  Layer& network;
  std::span<Parameter* const> parameters;
  const LossOptions& loss;
  const DataLayout& layout;
  // The network takes these, with the data's shapes.
  std::span<const NetworkInput> inputs;
  // It makes these beside its first output.
  std::span<const NetworkOutput> more_outputs{};
  // Makes the noise that the network is to take away; null where the data have its targets.
  const DiffusionProcess* diffusion = nullptr;
  // A training batch goes through in so many parts of (almost) equal size; their gradients add up
  // to those of the mean over the whole batch, if no label is ignored: parts weigh by their
  // samples.
  std::int64_t micro_batches = 1;
  // Gradients of so many runs of micro-batches are summed each on its own, and then in order, as
  // replicas of the network would do that have one run each.
  std::int64_t reduction_groups = 1;
  // How many contributions each gradient gets in a training step (ParameterStore::Contributions).
  // If they are given, each parameter is updated as soon as its gradient is final, and the gradient
  // is freed.
  std::span<const std::int64_t> final_after{};
  // These counts are given where replicas sum gradients as soon as they are final.
  std::span<const std::int64_t> summed_after{};
  // Rows of a chunk where the loss takes over the network's last projection; 0: ChunkRows.
  std::int64_t chunk_rows = 0;
  DivergencePolicy on_divergence = DivergencePolicy::kStop;
  BatchParts reads{};
  // Evaluations need the network's outputs as a whole, for metrics.
  bool needs_outputs = false;
  const OutputsFunction* outputs = nullptr;  // takes them; null in a dry run
};

// Memory for what a batch's outputs are compared with; nothing else of the batch.
Batch AllocateTargets(Context& context, const StepParts& parts, std::int64_t batch);

// The last projection of the network, where the loss takes it over and runs it in pieces: that of
// a network over positions, which may end in many outputs for each.
std::optional<Projection> ProjectionForLoss(const StepParts& parts);
// Does so for a step that runs in this context: an evaluation may need all outputs.
std::optional<Projection> ProjectionForLoss(const Context& context, const StepParts& parts);

// Holds what an output came to.
struct OutputLoss {
  Var loss;
  std::int64_t correct = 0;
};

// Returns the network's outputs among what it handed on: the first one, and the last ones, as many
// as there are others. Throws UsageError where there are too few.
VarTuple OutputsAmong(const StepParts& parts, VarTuple vars);

// RunLoss does what a forward pass does behind the network, for a part of the batch whose share of
// the step is `share`; `outputs` are the network's, up to that projection where the loss takes it
// over. The loss is that of the first output and, by their weights, of the others.
struct LossOfBatch {
  Var loss;
  std::vector<OutputLoss> outputs;
};
LossOfBatch RunLoss(Context& context, const StepParts& parts, const VarTuple& outputs,
                    const Batch& batch, double share = 1);

// Samples of part `index` of a batch that goes through in `parts` parts.
std::int64_t MicroBatchSize(std::int64_t batch, std::int64_t parts, std::int64_t index);

struct OutputResult {
  double loss = 0;           // mean over the batch, without its weight
  std::int64_t correct = 0;  // labels whose output is the largest of its row; 0 without labels
};

struct StepResult {
  double loss = 0;                      // mean over the batch: what is minimized
  std::int64_t correct = 0;             // of the first output
  double gradient_norm = 0;             // before clipping; 0 where nothing clips
  std::vector<OutputResult> outputs{};  // where the network has several: of each, the first too
};

// Adds a part of the batch to the sum.
void AddPart(StepResult& sum, const StepResult& part, double share);

// Adds up what groups of a step came to, in their order.
StepResult SumOf(std::span<const StepResult> groups);

// One input of a network for a whole batch, row-major: values, or tokens or labels.
using InputValues = std::variant<std::span<const float>, std::span<const std::int64_t>>;

// Every output of a network for a batch, row-major, the first in front.
using PredictedValues = std::vector<std::vector<float>>;

}  // namespace frugal

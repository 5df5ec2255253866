#pragma once

#include "sdk/train/stage.h"
#include "sdk/train/step.h"

namespace frugal {

// The steps of step.h on one of several devices. All devices of the mesh call them together, with
// the samples of the whole batch; each reads those that it needs. StepParts::network is the stage's
// part of the network, and `parameters` are those that it owns; StepParts::micro_batches is
// their number over all replicas, data_count * micro_batches of the stage.
//
// Numbers do not depend on the mesh: micro-batch g of a step has the samples, the share of the loss
// and the random streams that it has on one device. A replica adds up the gradients of its
// micro-batches in their order, then replicas are added in theirs. All devices return the same
// result.
StepResult TrainStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                      const StageLinks& links, const Optimizer& optimizer, const DataSource* source,
                      std::span<const std::int64_t> samples);

// Runs on one replica, whose devices alone call it.
StepResult EvaluateStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                         const StageLinks& links, const DataSource* source,
                         std::span<const std::int64_t> samples);

// Runs on one replica. The last stage gets the outputs.
void PredictStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                  const StageLinks& links, std::span<const InputValues> inputs, std::int64_t count,
                  PredictedValues& outputs);

}  // namespace frugal

#pragma once

#include <span>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/optim/optimizer.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Forward, backward and update on samples `samples` of `source`. Dry, `source` is not read. Where
// on_divergence is kStop, throws DivergenceError for a loss that is not finite, before the backward
// pass, and for a norm of gradients that is not, before any update: no weight has changed then.
StepResult TrainStep(Context& context, const StepParts& parts, const Optimizer& optimizer,
                     const DataSource* source, std::span<const std::int64_t> samples);

// Forward only, in evaluation mode.
StepResult EvaluateStep(Context& context, const StepParts& parts, const DataSource* source,
                        std::span<const std::int64_t> samples);

// The network's outputs for a batch of inputs (StepParts::inputs), in evaluation mode; values are
// read and written as f32 whatever the model computes in. Dry, neither is touched, and `inputs` may
// be empty.
void PredictStep(Context& context, const StepParts& parts, std::span<const InputValues> inputs,
                 std::int64_t count, PredictedValues& outputs);

}  // namespace frugal

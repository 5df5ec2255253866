#pragma once

#include <functional>
#include <span>
#include <vector>

#include "builders/setup/training_setup.h"

namespace frugal {

// Predicts one chunk of at most so many samples.
using PredictChunk =
    std::function<PredictedValues(std::span<const InputValues> inputs, std::int64_t count)>;

// The samples that a prediction takes through at a time: those that were planned for it, or as many
// as an evaluation takes.
std::int64_t PredictBatchOf(const TrainingSetup& setup);

// Predicts `count` samples in chunks, and returns the outputs of all, in order. Networks whose
// outputs depend on the other samples of a batch get all at once.
PredictedValues PredictInChunks(const TrainingSetup& setup, std::span<const InputValues> inputs,
                                std::int64_t count, const PredictChunk& predict);

}  // namespace frugal

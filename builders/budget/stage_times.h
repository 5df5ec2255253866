#pragma once

#include <vector>

#include "builders/budget/stage_bytes.h"
#include "presets/training_memory_config.h"

namespace frugal {

// Fills in the seconds of the stages.

// FLOPs over kModelFlops plus bytes over kModelBandwidth: rates of products and of passes over
// memory on two cores with AVX-512. Schedules depend on how the times of stages compare, and these
// rates set products off against passes; they do not predict the time of a step.
inline constexpr double kModelFlops = 200e9;  // per second, f32 and f64
inline constexpr double kModelFlopsBf16 = 1000e9;
inline constexpr double kModelBandwidth = 10e9;  // bytes per second
void ModelTimes(DType dtype, std::vector<Stage>& stages);

// Returns what a stage takes at most to be run, its parameters and their gradients included.
std::int64_t BytesToRun(const std::vector<Stage>& stages);

// Returns how much memory stands for other stages while one is measured: as much as all move in
// their forward passes, or twice what cores' own caches hold, and no more than is left of so many
// bytes.
std::int64_t OthersBytes(const std::vector<Stage>& stages, std::int64_t most_bytes);

// Runs each kind of stage (the same description, input and parameters), and the loss, on memory of
// its own, a few times, and takes the median times. In a step a stage finds its input in the cores'
// own caches, but not its weights, since others have run: so memory that stands for these is gone
// through before each pass, as much as fits beside the stage in so many bytes. Each stage's memory
// is given back before the next one's is taken. Gradients add to those of the run before where it
// accumulates. Says what it does on the log where that takes longer than two seconds.
void MeasureTimes(const TrainingSetup& setup, const Trial& trial, bool accumulates,
                  std::int64_t most_bytes, std::vector<Stage>& stages);

// Takes the seconds of other stages.
void CopyTimes(const std::vector<Stage>& from, std::vector<Stage>& to);

// Holds stages of so many samples.
struct SampledStages {
  std::int64_t samples = 0;
  std::vector<Stage> stages;
};

// Takes the times of so many samples: those of `more`, and for each sample beyond them what one
// adds from `few` to `more`, which is held between half and all of what one takes on average. All
// add the average where `few` has no stages, or as many samples.
void ExtrapolateTimes(const SampledStages& few, const SampledStages& more, std::int64_t samples,
                      std::vector<Stage>& to);

// Returns the seconds of a step's updates, norms of gradients included where they are clipped, by
// those of one parameter of some millions of elements, as many as there are and as leave it within
// half of so many bytes.
double MeasureUpdateSeconds(const TrainingSetup& setup, std::int64_t most_bytes);

}  // namespace frugal

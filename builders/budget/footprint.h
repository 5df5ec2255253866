#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "builders/dry_run/dry_training.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Holds what a training takes at most, as a dry run of its steps shows.
struct Footprint {
  // Counts the whole process: what lives outside steps, and the arena with the gaps of its layout.
  // Without an arena, the peak.
  std::int64_t bytes = 0;
  std::int64_t peak_bytes = 0;              // the largest live bytes; never more than `bytes`
  BytesByTag outside;                       // what lives outside steps
  BytesByTag at_peak;                       // of a training step
  PagingTraffic paged;                      // in a training step, of a whole batch if there is one
  std::int64_t paged_activation_bytes = 0;  // of a part of the batch
};

// A network of many layers: every plan of it takes long, and its schedules differ by little.
inline constexpr std::size_t kFewStages = 200;
bool HasManyLayers(const TrainingSetup& setup);

class FootprintMeter {
 public:
  // Returns the footprint of the training steps among these and of the trial's evaluation, with the
  // segments that are set on the network. Where the peak, or the least that any arena would make of
  // it, is above `place_up_to`, no arena is laid out, and that is `bytes`; where it is not, the
  // first arena that stays within it will do, and a whole plan may find a smaller one. Of many
  // layers, the first within a fiftieth of the peak will do anyway.
  Footprint Measure(const TrainingSetup& setup, const Trial& trial,
                    std::span<const PlannedStep> steps, std::int64_t place_up_to);

  // Returns how often each gradient is added to in these training steps, nothing where none is used
  // before a step's end. It is counted once for all trials that cut a batch and the loss alike: by
  // one that was measured without updates in its backward pass, or by a training of its own, with
  // which Measure() then goes on.
  std::vector<std::int64_t> CountContributions(const TrainingSetup& setup, const Trial& trial,
                                               std::span<const PlannedStep> steps);

  // Returns what lives outside these steps where no step need run to know it.
  std::optional<BytesByTag> FindOutside(const TrainingSetup& setup, const Trial& trial,
                                        std::span<const PlannedStep> steps);

  // Holds what an evaluation takes within its steps, largest live bytes and arena.
  struct Evaluation {
    std::int64_t live_bytes = 0;
    std::int64_t arena_bytes = 0;
  };
  Evaluation MeasureEvaluation(const TrainingSetup& setup, const Trial& trial);

 private:
  // Holds a training that was measured, for those that differ in segments alone.
  struct Kept {
    Kept(const TrainingSetup& setup, const Trial& trial, LabelTable::Keeps names,
         std::span<const PlannedStep> run)
        : settings(WithoutSegments(trial.settings)),
          schedule(trial.schedule),
          steps(run.begin(), run.end()),
          training(setup, trial, names) {}

    StepSettings settings;
    EpochSchedule schedule;
    std::vector<PlannedStep> steps;
    DryTraining training;
    bool has_settled = false;  // its steps would find nothing new to make
    bool took = false;         // it has taken what a first step leaves, without running it

    bool IsFor(const StepSettings& other, const EpochSchedule& at,
               std::span<const PlannedStep> run) const {
      return has_settled && settings == other && schedule == at && std::ranges::equal(steps, run);
    }
  };
  static StepSettings WithoutSegments(StepSettings settings) {
    settings.use_gradient_checkpointing = false;
    return settings;
  }
  static void Settle(Kept& kept);
  Kept& TrainingOf(const TrainingSetup& setup, const Trial& trial,
                   std::span<const PlannedStep> steps);
  // Runs the steps of the first training kept, and returns their traces. Where it had taken what a
  // first step leaves and its first shows that it was something else, drops it and returns nothing.
  std::optional<std::vector<MemoryTrace>> TracesOfFirst(const TrainingSetup& setup,
                                                        const Trial& trial, Footprint& footprint);

  // Holds the one with the knobs as they are stated, and the one of a search: the last comes first.
  static constexpr std::size_t kMostKept = 2;
  std::list<Kept> kept_;
  // The keys are how a batch and the loss are cut into parts.
  using Parts = std::tuple<std::int64_t, std::int64_t, std::optional<std::int64_t>>;
  static Parts PartsOf(const StepSettings& settings, std::int64_t batch) {
    return {batch, settings.micro_batches, settings.loss_chunk_rows};
  }
  std::map<Parts, std::vector<std::int64_t>> counted_;
  std::vector<std::int64_t> contributions_;  // as counted last
  bool may_take_ = true;                     // what a first step leaves
  bool is_first_ = true;
  // The keys are batch and rows of the loss at a time; segments do not matter to evaluations.
  std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, Evaluation> evaluations_;
};

// Returns Footprint::bytes of a plan that is complete.
std::int64_t FootprintBytes(const TrainingMemoryConfig& memory, const Plan& plan,
                            std::int64_t outside_bytes);

}  // namespace frugal

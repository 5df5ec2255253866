#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "builders/budget/footprint.h"
#include "builders/budget/free_knobs.h"
#include "builders/budget/stage_bytes.h"
#include "builders/budget/stage_times.h"
#include "builders/dry_run/checkpoint_policy.h"
#include "sdk/core/slow_work.h"
#include "sdk/plan/chain_planner.h"

namespace frugal {

// A way to train, and what a dry run of it takes.
struct BudgetCandidate {
  StepSettings settings;
  ChainChoice chain;  // segments of the network's leaves; nothing where the fields make them
  Footprint footprint;
  double seconds = 0;  // predicted, of forward and backward passes of a step
};

// Holds what was measured for the planners of a search, which may be several that differ in what
// lies in a page file: times do not depend on that.
struct MeasuredCosts {
  struct Stages {
    std::vector<Stage> stages;
    bool is_measured = false;
  };
  std::map<StepSettings, Stages> stages{};
  std::optional<double> update_seconds{};
};

// Plans ways to train as a whole plan is made: by dry runs of their steps. Nothing of the setup
// changes but the network's checkpointed segments, of which there are none behind each call.
class CandidatePlanner {
 public:
  explicit CandidatePlanner(const TrainingSetup& setup,
                            std::shared_ptr<MeasuredCosts> measured = nullptr);

  // Makes a trial whose gradients are counted by a dry run, one for all trials that agree in what
  // that depends on.
  Trial TrialOf(const StepSettings& settings);

  // Lays out an arena only where the peak is within `place_up_to`. Knows a plan without segments
  // when it is asked for again.
  BudgetCandidate Plan(const StepSettings& settings, const ChainChoice& chain,
                       std::int64_t place_up_to);
  // Plans runs of layers as these options say in place of the configuration; their peak alone.
  BudgetCandidate PlanRuns(StepSettings settings, const CheckpointOptions& options);
  // Returns what lives outside the steps of a plan without segments.
  BytesByTag OutsideSteps(const StepSettings& settings);
  // Plans evaluation steps alone.
  FootprintMeter::Evaluation PlanEvaluation(const StepSettings& settings);

  // Makes a planner of schedules of the network's leaves; their times come from a model of them, or
  // are measured within so many bytes. Asked for the same again, it returns the one with the tables
  // that it has made so far.
  std::shared_ptr<ChainPlanner> ChainByModel(const StepSettings& settings);
  std::shared_ptr<ChainPlanner> ChainByMeasurement(const StepSettings& settings,
                                                   std::int64_t most_bytes);
  // Returns the measured seconds of the passes and updates of a step; nothing where not even one
  // sample can be run within so many bytes.
  std::optional<double> MeasuredSeconds(const BudgetCandidate& candidate, std::int64_t most_bytes);

 private:
  Footprint FootprintOf(const StepSettings& settings, const ChainChoice& chain,
                        std::int64_t place_up_to);
  // Returns nothing where no plan without segments is known that says what this one would.
  std::optional<Footprint> FindKept(const StepSettings& settings, std::int64_t place_up_to) const;
  std::vector<Stage> StagesByModel(const StepSettings& settings);
  // Returns false, and leaves the model's, where not even one sample can be run within the bytes.
  bool TakeTimes(StepSettings settings, std::int64_t most_bytes, std::vector<Stage>& stages);
  std::optional<SampledStages> StagesOfFewer(StepSettings& settings);
  // Returns nothing where none are known for these settings.
  const MeasuredCosts::Stages* KnownTimes(const StepSettings& settings) const;
  // Measures once for all settings of the same times.
  const MeasuredCosts::Stages& StagesByMeasurement(const StepSettings& settings,
                                                   std::int64_t most_bytes);

  const TrainingSetup& setup_;
  std::optional<CheckpointOptions> options_;  // in place of what the configuration says
  FootprintMeter meter_;
  std::map<StepSettings, std::vector<Stage>> stages_;  // by model
  StepSettings chain_settings_;                        // of the chain that was asked for last
  std::shared_ptr<ChainPlanner> chain_;                // by model
  std::shared_ptr<MeasuredCosts> measured_;
  // The footprints without segments, and up to what they were laid out.
  struct Kept {
    Footprint footprint;
    std::int64_t place_up_to = 0;
  };
  std::map<StepSettings, Kept> kept_;
  SlowWork progress_;
  int planned_ = 0;  // candidates
};

}  // namespace frugal

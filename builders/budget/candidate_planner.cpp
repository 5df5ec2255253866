#include "builders/budget/candidate_planner.h"

#include <algorithm>
#include <utility>

#include "builders/budget/stage_times.h"
#include "builders/dry_run/dry_training.h"
#include "builders/dry_run/saved_bytes.h"

namespace frugal {

namespace {

using std::int64_t;

// While it lives, the network is cut into these segments of its leaves, if there are any; then into
// none.
class SegmentsScope {
 public:
  SegmentsScope(Sequential& network, const CheckpointSegments& segments) : network_(network) {
    if (!segments.empty()) network.SetLeafSegments(segments);
  }
  SegmentsScope(const SegmentsScope&) = delete;
  SegmentsScope& operator=(const SegmentsScope&) = delete;
  ~SegmentsScope() { network_.SetSegments({}); }

 private:
  Sequential& network_;
};

// While it lives, a batch is of another size.
class BatchScope {
 public:
  BatchScope(TrainingProgram& program, int64_t batch)
      : program_(program), previous_(std::exchange(program.batch, batch)) {}
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;
  ~BatchScope() { program_.batch = previous_; }

 private:
  TrainingProgram& program_;
  int64_t previous_;
};

}  // namespace

void CandidatePlanner::Force(const BudgetSettings& settings) {
  Apply(stated_, settings, blueprint_);
  SetPolicySegments(blueprint_,
                    settings.use_gradient_checkpointing ? MeasureKept(blueprint_) : KeptBytes());
  blueprint_.final_after = Contributions();
}

const std::vector<std::int64_t>& CandidatePlanner::Contributions() {
  const RunConfig& config = blueprint_.config;
  const auto [found, is_new] =
      contributions_.try_emplace({config.memory.optimizer_in_backward, blueprint_.program.batch,
                                  config.training.accumulate, config.training.loss_chunk_rows});
  if (is_new) found->second = ContributionsFor(blueprint_);
  return found->second;
}

BudgetCandidate CandidatePlanner::Plan(const BudgetSettings& settings, const ChainChoice& chain,
                                       int64_t place_up_to) {
  ++planned_;
  progress_.Tell([&] {
    return "looking for what fits the memory budget; " + std::to_string(planned_) + " ways planned";
  });
  BudgetCandidate candidate{settings, chain, {}};
  candidate.seconds = chain.cost.seconds * static_cast<double>(settings.accumulate);
  candidate.footprint = settings.accumulate > kTellingParts
                            ? MeasureTellingParts(settings, chain, place_up_to)
                            : Measure(settings, chain, StepsOf(blueprint_.program), place_up_to);
  return candidate;
}

Footprint CandidatePlanner::Measure(const BudgetSettings& settings, const ChainChoice& chain,
                                    std::span<const PlannedStep> steps, int64_t place_up_to) {
  Force(settings);
  const SegmentsScope segments(*blueprint_.network, chain.segments);
  return meter_.Measure(blueprint_, steps, place_up_to);
}

Footprint CandidatePlanner::MeasureTellingParts(const BudgetSettings& settings,
                                                const ChainChoice& chain, int64_t place_up_to) {
  std::vector<PlannedStep> steps = StepsOf(blueprint_.program);
  for (PlannedStep& step : steps) {
    if (step.kind == StepKind::kTrain) step.batch = TellingBatch(step.batch, settings.accumulate);
  }
  BudgetSettings telling = settings;
  telling.accumulate = kTellingParts;
  const BatchScope batch(blueprint_.program,
                         TellingBatch(blueprint_.program.batch, settings.accumulate));
  return Measure(telling, chain, steps, place_up_to);
}

// With the layout of all parts of a batch too.
BudgetCandidate CandidatePlanner::Whole(BudgetCandidate candidate, int64_t place_up_to) {
  if (candidate.settings.accumulate <= kTellingParts) return candidate;
  if (candidate.footprint.bytes > place_up_to) return candidate;
  const int64_t telling = candidate.footprint.bytes;
  candidate.footprint =
      Measure(candidate.settings, candidate.chain, StepsOf(blueprint_.program), place_up_to);
  candidate.footprint.bytes = std::max(candidate.footprint.bytes, telling);
  return candidate;
}

FootprintMeter::Evaluation CandidatePlanner::PlanEvaluation(const BudgetSettings& settings) {
  Force(settings);
  return meter_.MeasureEvaluation(blueprint_);
}

std::vector<Stage> CandidatePlanner::StagesByModel(const BudgetSettings& settings) {
  Force(settings);
  std::vector<Stage> stages = MeasureStages(blueprint_);
  ModelTimes(blueprint_.backend->ProductType(blueprint_.dtype()), stages);
  return stages;
}

ChainPlanner CandidatePlanner::ChainByModel(const BudgetSettings& settings) {
  return ChainPlanner(ChainOf(StagesByModel(settings)));
}

ChainPlanner CandidatePlanner::ChainByMeasurement(const BudgetSettings& settings,
                                                  int64_t most_bytes) {
  std::vector<Stage> stages = StagesByModel(settings);
  TakeTimes(settings, most_bytes, stages);
  return ChainPlanner(ChainOf(stages));
}

// Runs the stages on as many samples as leave them within half of what they may take (the heap may
// need twice what it gives), and takes the whole part of the batch for as many times longer as it
// has more. Where not even one sample leaves them there, the times stay the model's.
void CandidatePlanner::TakeTimes(BudgetSettings settings, int64_t most_bytes,
                                 std::vector<Stage>& stages) {
  const int64_t batch = blueprint_.program.batch;
  const int64_t fewest = HasBatchStatistics(blueprint_) || MixesSamples(blueprint_) ? 2 : 1;
  const int64_t all = MicroBatchSize(batch, settings.accumulate, 0);
  std::vector<Stage> run = stages;
  int64_t samples = all;
  while (2 * BytesToRun(run) > most_bytes) {
    const int64_t parts = std::min(2 * settings.accumulate, batch / fewest);
    if (parts <= settings.accumulate) return;
    settings.accumulate = parts;
    samples = MicroBatchSize(batch, parts, 0);
    Force(settings);
    run = MeasureStages(blueprint_);
  }
  MeasureTimes(blueprint_, run);
  const double longer = static_cast<double>(all) / static_cast<double>(samples);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].layer == nullptr) continue;  // the loss, which always runs once
    stages[i].chain.forward_seconds = longer * run[i].chain.forward_seconds;
    stages[i].chain.backward_seconds = longer * run[i].chain.backward_seconds;
  }
}

}  // namespace frugal

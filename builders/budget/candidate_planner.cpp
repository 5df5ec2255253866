#include "builders/budget/candidate_planner.h"

#include <algorithm>

#include "builders/budget/stage_times.h"
#include "builders/dry_run/dry_training.h"
#include "builders/dry_run/saved_bytes.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"

namespace frugal {

namespace {

using std::int64_t;

// While it lives, the network, of which nothing is checkpointed, is cut into these segments of its
// leaves or, where there are none, as the fields of the configuration say; then into none.
class SegmentsScope {
 public:
  SegmentsScope(const TrainingSetup& setup, const Trial& trial, const CheckpointSegments& segments,
                const std::optional<CheckpointOptions>& options = std::nullopt)
      : network_(*setup.network),
        only_leaves_(!segments.empty() || !trial.settings.use_gradient_checkpointing) {
    if (!segments.empty()) {
      network_.SetLeafSegments(segments);
    } else if (trial.settings.use_gradient_checkpointing) {
      SetPolicySegments(setup, trial.settings, MeasureSavedBytes(setup, trial), options);
    }
  }
  SegmentsScope(const SegmentsScope&) = delete;
  SegmentsScope& operator=(const SegmentsScope&) = delete;
  ~SegmentsScope() {
    if (only_leaves_) {
      network_.SetSegments({});
    } else {
      SetCheckpointSegments(network_, {}, {});
    }
  }

 private:
  Sequential& network_;
  bool only_leaves_;  // none of the layers inside was told to run again
};

}  // namespace

CandidatePlanner::CandidatePlanner(const TrainingSetup& setup,
                                   std::shared_ptr<MeasuredCosts> measured)
    : setup_(setup), measured_(measured ? std::move(measured) : std::make_shared<MeasuredCosts>()) {
  SetCheckpointSegments(*setup.network, {}, {});
}

Trial CandidatePlanner::TrialOf(const StepSettings& settings) {
  Trial trial = TrialWith(setup_, settings);
  trial.final_after = meter_.CountContributions(setup_, trial, StepsOf(trial.schedule));
  return trial;
}

BudgetCandidate CandidatePlanner::Plan(const StepSettings& settings, const ChainChoice& chain,
                                       int64_t place_up_to) {
  ++planned_;
  if (setup_.config.memory.memory_budget_mb)
    progress_.Tell([&] {
      return "looking for what fits the memory budget; " + std::to_string(planned_) +
             " ways planned";
    });
  BudgetCandidate candidate{settings, chain, {}};
  candidate.seconds = chain.cost.seconds * static_cast<double>(settings.micro_batches);
  candidate.footprint = FootprintOf(settings, chain, place_up_to);
  LogDebug("way " + std::to_string(planned_) + " to fit the memory budget: " +
           FormatBytes(candidate.footprint.peak_bytes) + " at the peak");
  return candidate;
}

std::optional<Footprint> CandidatePlanner::FindKept(const StepSettings& settings,
                                                    int64_t place_up_to) const {
  const auto found = kept_.find(settings);
  if (found == kept_.end()) return std::nullopt;
  Footprint footprint = found->second.footprint;
  if (footprint.peak_bytes > place_up_to) {
    footprint.bytes = footprint.peak_bytes;
    return footprint;
  }
  return found->second.place_up_to == place_up_to ? std::optional(footprint) : std::nullopt;
}

Footprint CandidatePlanner::FootprintOf(const StepSettings& settings, const ChainChoice& chain,
                                        int64_t place_up_to) {
  const bool is_kept = chain.segments.empty() && !options_;
  if (is_kept) {
    if (const auto known = FindKept(settings, place_up_to)) return *known;
  }
  const Trial trial = TrialOf(settings);
  const SegmentsScope segments(setup_, trial, chain.segments, options_);
  const Footprint footprint = meter_.Measure(setup_, trial, StepsOf(trial.schedule), place_up_to);
  if (is_kept) kept_[settings] = {footprint, place_up_to};
  return footprint;
}

BudgetCandidate CandidatePlanner::PlanRuns(StepSettings settings,
                                           const CheckpointOptions& options) {
  settings.use_gradient_checkpointing = true;
  options_ = options;
  BudgetCandidate candidate = Plan(settings, {}, 0);
  options_ = std::nullopt;
  return candidate;
}

BytesByTag CandidatePlanner::OutsideSteps(const StepSettings& settings) {
  const Trial trial = TrialOf(settings);
  const auto known = meter_.FindOutside(setup_, trial, StepsOf(trial.schedule));
  return known ? *known : Plan(settings, {}, 0).footprint.outside;
}

FootprintMeter::Evaluation CandidatePlanner::PlanEvaluation(const StepSettings& settings) {
  const Trial trial = TrialOf(settings);
  const SegmentsScope segments(setup_, trial, {});
  return meter_.MeasureEvaluation(setup_, trial);
}

std::vector<Stage> CandidatePlanner::StagesByModel(const StepSettings& settings) {
  std::vector<Stage>& stages = stages_[settings];
  if (!stages.empty()) return stages;
  const Trial trial = TrialOf(settings);
  const SegmentsScope segments(setup_, trial, {});
  stages = MeasureStages(setup_, trial);
  ModelTimes(setup_.backend->ProductType(setup_.dtype()), stages);
  return stages;
}

std::shared_ptr<ChainPlanner> CandidatePlanner::ChainByModel(const StepSettings& settings) {
  if (chain_ && chain_settings_ == settings) return chain_;
  chain_ = std::make_shared<ChainPlanner>(ChainOf(StagesByModel(settings)));
  chain_settings_ = settings;
  return chain_;
}

// Times depend on how a batch and the loss are cut into parts, and on nothing else of the settings.
const MeasuredCosts::Stages* CandidatePlanner::KnownTimes(const StepSettings& settings) const {
  const auto known = std::ranges::find_if(measured_->stages, [&](const auto& entry) {
    return entry.second.is_measured && entry.first.micro_batches == settings.micro_batches &&
           entry.first.loss_chunk_rows == settings.loss_chunk_rows;
  });
  return known == measured_->stages.end() ? nullptr : &known->second;
}

const MeasuredCosts::Stages& CandidatePlanner::StagesByMeasurement(const StepSettings& settings,
                                                                   int64_t most_bytes) {
  MeasuredCosts::Stages& measured = measured_->stages[settings];
  if (measured.stages.empty()) {
    measured.stages = StagesByModel(settings);
    const MeasuredCosts::Stages* known = KnownTimes(settings);
    if (known != nullptr) {
      CopyTimes(known->stages, measured.stages);
      measured.is_measured = true;
    } else {
      measured.is_measured = TakeTimes(settings, most_bytes, measured.stages);
    }
  }
  return measured;
}

std::shared_ptr<ChainPlanner> CandidatePlanner::ChainByMeasurement(const StepSettings& settings,
                                                                   int64_t most_bytes) {
  return std::make_shared<ChainPlanner>(ChainOf(StagesByMeasurement(settings, most_bytes).stages));
}

std::optional<double> CandidatePlanner::MeasuredSeconds(const BudgetCandidate& candidate,
                                                        int64_t most_bytes) {
  const MeasuredCosts::Stages& measured = StagesByMeasurement(candidate.settings, most_bytes);
  if (!measured.is_measured) return std::nullopt;
  if (!measured_->update_seconds)
    measured_->update_seconds = MeasureUpdateSeconds(setup_, most_bytes);
  const double passes = Simulate(ChainOf(measured.stages), candidate.chain.segments).seconds;
  return passes * static_cast<double>(candidate.settings.micro_batches) +
         *measured_->update_seconds;
}

// Makes stages of half as many samples, in twice as many parts; none where these would be too few.
std::optional<SampledStages> CandidatePlanner::StagesOfFewer(StepSettings& settings) {
  const int64_t batch = setup_.schedule.batch;
  const int64_t fewest = HasBatchStatistics(setup_) || MixesSamples(setup_) ? 2 : 1;
  const int64_t parts = std::min(2 * settings.micro_batches, batch / fewest);
  if (parts <= settings.micro_batches) return std::nullopt;
  settings.micro_batches = parts;
  return SampledStages{MicroBatchSize(batch, parts, 0), MeasureStages(setup_, TrialOf(settings))};
}

// Runs the stages on as many samples as leave them within 4/9 of what they may take (the heap may
// need twice what it gives, and the kernels' code comes to it). Where these are not all of a part,
// half of them tell how much longer more take.
bool CandidatePlanner::TakeTimes(StepSettings settings, int64_t most_bytes,
                                 std::vector<Stage>& stages) {
  chain_ = nullptr;  // its tables are memory too
  const bool accumulates = settings.micro_batches > 1;
  const int64_t all = MicroBatchSize(setup_.schedule.batch, settings.micro_batches, 0);
  const int64_t most_to_run = most_bytes / 9 * 4;
  SampledStages run{all, stages};
  while (BytesToRun(run.stages) > most_to_run) {
    auto fewer = StagesOfFewer(settings);
    if (!fewer) return false;
    run = *std::move(fewer);
  }
  const auto measure = [&](SampledStages& sampled) {
    MeasureTimes(setup_, TrialOf(settings), accumulates, most_to_run, sampled.stages);
  };
  measure(run);
  std::optional<SampledStages> fewer;
  if (run.samples < all && (fewer = StagesOfFewer(settings))) measure(*fewer);
  ExtrapolateTimes(fewer ? *fewer : SampledStages{}, run, all, stages);
  return true;
}

}  // namespace frugal

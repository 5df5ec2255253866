#include "builders/budget/footprint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "builders/dry_run/dry_training.h"
#include "sdk/memory/arena_layout.h"
#include "sdk/plan/plan.h"

namespace frugal {
namespace {

// In a page file, tensors lie where earlier steps put them.
bool SettlesInOneStep(const StepSettings& settings, std::span<const PlannedStep> steps) {
  return !steps.empty() && steps.front().times > 1 && !settings.pages();
}

std::vector<PlannedStep> TrainingStepsOf(std::span<const PlannedStep> all) {
  std::vector<PlannedStep> steps(all.begin(), all.end());
  std::erase_if(steps, [](const PlannedStep& step) { return step.kind != StepKind::kTrain; });
  return steps;
}

}  // namespace

bool HasManyLayers(const TrainingSetup& setup) {
  return setup.network->Leaves().size() > kFewStages;
}

FootprintMeter::Evaluation FootprintMeter::MeasureEvaluation(const TrainingSetup& setup,
                                                             const Trial& trial) {
  const auto [found, is_new] =
      evaluations_.try_emplace({trial.schedule.evaluation_batch, trial.settings.loss_chunk_rows});
  std::vector<PlannedStep> steps = StepsOf(trial.schedule);
  std::erase_if(steps, [](const PlannedStep& step) { return step.kind != StepKind::kEvaluate; });
  if (!is_new || steps.empty()) return found->second;
  DryTraining training(setup, trial);
  for (const PlannedStep& step : steps) {
    const ArenaLayout layout = PlaceInArena(training.Trace(step.kind, step.batch, 1));
    Evaluation& need = found->second;
    need.arena_bytes = std::max(need.arena_bytes, layout.arena_bytes);
    need.live_bytes = std::max(need.live_bytes, layout.lower_bound_bytes);
  }
  return found->second;
}

// Segments change nothing of what lives on between steps, so a training that has come to its second
// step measures them for others.
FootprintMeter::Kept& FootprintMeter::TrainingOf(const TrainingSetup& setup, const Trial& trial,
                                                 std::span<const PlannedStep> steps) {
  const StepSettings settings = WithoutSegments(trial.settings);
  const auto known = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.IsFor(settings, trial.schedule, steps); });
  if (SettlesInOneStep(settings, steps) && known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return *known;
  }
  // A mistake in a layer is met, and told by name, in the first one.
  const auto names =
      std::exchange(is_first_, false) ? LabelTable::Keeps::kAll : LabelTable::Keeps::kFirst;
  while (kept_.size() >= kMostKept) kept_.pop_back();
  Kept& kept = kept_.emplace_front(setup, trial, names, steps);
  if (SettlesInOneStep(settings, steps) && !contributions_.empty() &&
      kept.training.TakeWhatStays(contributions_)) {
    Settle(kept);
  }
  return kept;
}

std::optional<BytesByTag> FootprintMeter::FindOutside(const Trial& trial,
                                                      std::span<const PlannedStep> steps) {
  const auto known = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.IsFor(WithoutSegments(trial.settings), trial.schedule, TrainingStepsOf(steps));
  });
  if (known == kept_.end()) return std::nullopt;
  return known->training.ledger().live();
}

void FootprintMeter::Settle(Kept& kept) {
  kept.has_settled = true;
  kept.training.KeepNoMoreNames();
}

std::vector<std::int64_t> FootprintMeter::CountContributions(
    const TrainingSetup& setup, const Trial& trial, std::span<const PlannedStep> all_steps) {
  const std::vector<PlannedStep> steps = TrainingStepsOf(all_steps);
  if (!UpdatesInBackwardOf(setup, trial.settings)) return {};
  const bool counts_here = !setup.stage && SettlesInOneStep(trial.settings, steps) &&
                           steps.front().batch == trial.schedule.batch &&
                           trial.settings.micro_batches <= kRepresentativeParts;
  if (!counts_here) return ContributionsFor(setup, trial);
  Trial counted = trial;
  counted.final_after.assign(setup.parameters.size(), 0);
  Kept& kept = TrainingOf(setup, counted, steps);
  contributions_ = kept.training.CountContributions(steps.front().batch);
  Settle(kept);
  return contributions_;
}

Footprint FootprintMeter::Measure(const TrainingSetup& setup, const Trial& trial,
                                  std::span<const PlannedStep> all_steps,
                                  std::int64_t place_up_to) {
  const Evaluation evaluation = MeasureEvaluation(setup, trial);
  const std::vector<PlannedStep> steps = TrainingStepsOf(all_steps);
  Kept& kept = TrainingOf(setup, trial, steps);
  DryTraining& training = kept.training;
  // One that throws in a step is not measured with again.
  const bool has_settled = std::exchange(kept.has_settled, false);
  if (has_settled) training.RestartPeaks();
  std::vector<MemoryTrace> traces;
  Footprint footprint;
  for (const PlannedStep& step : steps) {
    traces.push_back(training.Trace(step.kind, step.batch, has_settled ? 1 : step.times));
    if (traces.size() > 1) continue;
    footprint.paged = training.paged();
    footprint.paged_activation_bytes = training.PagedActivationBytes();
  }
  Settle(kept);
  footprint.outside = training.ledger().live();
  const std::int64_t outside = footprint.outside.Total();
  footprint.at_peak = training.ledger().at_peak();
  footprint.peak_bytes = std::max(training.ledger().peak_total(), outside + evaluation.live_bytes);
  footprint.bytes = footprint.peak_bytes;
  if (footprint.peak_bytes > place_up_to) return footprint;
  if (!setup.config.memory.use_activation_pooling) return footprint;
  // State comes behind the peak of a first step, but the arena is there throughout.
  std::int64_t least = evaluation.live_bytes;
  for (const MemoryTrace& trace : traces) least = std::max(least, LeastArenaBytes(trace));
  if (outside + least > place_up_to) {
    footprint.bytes = outside + least;
    return footprint;
  }
  std::int64_t arena = evaluation.arena_bytes;
  const bool any_will_do = place_up_to < std::numeric_limits<std::int64_t>::max();
  std::int64_t enough = any_will_do ? place_up_to - outside : 0;
  if (!any_will_do && HasManyLayers(setup)) {
    enough = footprint.peak_bytes / 50 * 51 - outside;
  }
  for (const MemoryTrace& trace : traces) {
    arena = std::max(arena, PlaceInArena(trace, enough).arena_bytes);
  }
  footprint.bytes = outside + arena;
  return footprint;
}

std::int64_t RepresentativeBatch(std::int64_t batch, std::int64_t parts) {
  if (batch < parts) return std::min(batch, kRepresentativeParts - 1);
  return MicroBatchSize(batch, parts, 0) + MicroBatchSize(batch, parts, 1) +
         MicroBatchSize(batch, parts, parts - 1);
}

std::int64_t FootprintBytes(const TrainingMemoryConfig& memory, const Plan& plan,
                            std::int64_t outside_bytes) {
  return memory.use_activation_pooling ? outside_bytes + plan.arena_bytes : plan.peak_bytes;
}

}  // namespace frugal

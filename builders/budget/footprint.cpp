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

// Returns true where gradients came to those parameters that are known to get any, or where nothing
// is known to all that train.
bool CameAsTaken(std::span<const Parameter* const> parameters, std::span<const std::int64_t> came,
                 std::span<const std::int64_t> known) {
  return std::ranges::all_of(parameters, [&](const Parameter* parameter) {
    const std::size_t i = parameter->index;
    return (came[i] > 0) == (known.empty() ? parameter->trainable : known[i] > 0);
  });
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
  // It is not known yet whose gradients come where a training updates in its backward pass.
  const bool may_take = may_take_ && !(contributions_.empty() && trial.updates_in_backward());
  kept.took =
      SettlesInOneStep(settings, steps) && may_take && kept.training.TakeWhatStays(contributions_);
  kept.has_settled = kept.took;
  return kept;
}

std::optional<BytesByTag> FootprintMeter::FindOutside(const TrainingSetup& setup,
                                                      const Trial& trial,
                                                      std::span<const PlannedStep> steps) {
  Kept& kept = TrainingOf(setup, trial, TrainingStepsOf(steps));
  if (!kept.has_settled) {
    kept_.pop_front();
    return std::nullopt;
  }
  if (kept.took && contributions_.empty()) return std::nullopt;
  return kept.training.ledger().live();
}

void FootprintMeter::Settle(Kept& kept) {
  kept.has_settled = true;
  kept.training.KeepNoMoreNames();
}

std::vector<std::int64_t> FootprintMeter::CountContributions(
    const TrainingSetup& setup, const Trial& trial, std::span<const PlannedStep> all_steps) {
  if (!UpdatesInBackwardOf(setup, trial.settings)) return {};
  const Parts parts = PartsOf(trial.settings, trial.schedule.batch);
  const auto known = counted_.find(parts);
  if (known != counted_.end()) return known->second;
  const std::vector<PlannedStep> steps = TrainingStepsOf(all_steps);
  const bool counts_here = !setup.stage && SettlesInOneStep(trial.settings, steps) &&
                           steps.front().batch == trial.schedule.batch;
  if (!counts_here) return counted_[parts] = ContributionsFor(setup, trial);
  Trial counted = trial;
  counted.final_after.assign(setup.parameters.size(), 0);
  Kept& kept = TrainingOf(setup, counted, steps);
  contributions_ = kept.training.CountContributions(steps.front().batch);
  kept.took = false;
  Settle(kept);
  return counted_[parts] = contributions_;
}

std::optional<std::vector<MemoryTrace>> FootprintMeter::TracesOfFirst(const TrainingSetup& setup,
                                                                      const Trial& trial,
                                                                      Footprint& footprint) {
  Kept& kept = kept_.front();
  DryTraining& training = kept.training;
  // One that throws in a step is not measured with again.
  const bool has_settled = std::exchange(kept.has_settled, false);
  if (has_settled) training.RestartPeaks();
  const std::int64_t outside = training.ledger().live_total();
  std::vector<MemoryTrace> traces;
  for (const PlannedStep& step : kept.steps) {
    traces.push_back(training.Trace(step.kind, step.batch, has_settled ? 1 : step.times));
    if (traces.size() > 1) continue;
    footprint.paged = training.paged();
    footprint.paged_activation_bytes = training.PagedActivationBytes();
    std::vector<std::int64_t> came = training.Contributions();
    const bool left_as_taken = training.ledger().live_total() == outside;
    if (std::exchange(kept.took, false) &&
        !(left_as_taken && CameAsTaken(setup.parameters, came, contributions_))) {
      may_take_ = false;
      kept_.pop_front();
      return std::nullopt;
    }
    if (setup.stage || trial.updates_in_backward()) continue;
    contributions_ = came;
    counted_[PartsOf(trial.settings, step.batch)] = std::move(came);
  }
  Settle(kept);
  return traces;
}

Footprint FootprintMeter::Measure(const TrainingSetup& setup, const Trial& trial,
                                  std::span<const PlannedStep> all_steps,
                                  std::int64_t place_up_to) {
  const Evaluation evaluation = MeasureEvaluation(setup, trial);
  const std::vector<PlannedStep> steps = TrainingStepsOf(all_steps);
  Footprint footprint;
  std::optional<std::vector<MemoryTrace>> traced;
  while (!traced) {
    TrainingOf(setup, trial, steps);
    traced = TracesOfFirst(setup, trial, footprint);
  }
  const std::vector<MemoryTrace>& traces = *traced;
  DryTraining& training = kept_.front().training;
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

std::int64_t FootprintBytes(const TrainingMemoryConfig& memory, const Plan& plan,
                            std::int64_t outside_bytes) {
  return memory.use_activation_pooling ? outside_bytes + plan.arena_bytes : plan.peak_bytes;
}

}  // namespace frugal

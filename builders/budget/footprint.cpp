#include "builders/budget/footprint.h"

#include <algorithm>
#include <limits>

#include "builders/dry_run/dry_training.h"
#include "sdk/memory/arena_layout.h"
#include "sdk/plan/plan.h"

namespace frugal {

bool HasManyLayers(const TrainingSetup& setup) {
  return setup.network->Leaves().size() > kFewStages;
}

FootprintMeter::Evaluation FootprintMeter::MeasureEvaluation(const TrainingSetup& setup,
                                                             const Trial& trial) {
  const auto [found, is_new] =
      evaluations_.try_emplace({trial.schedule.evaluation_batch, trial.settings.loss_chunk_rows});
  if (!is_new) return found->second;
  DryTraining training(setup, trial);
  for (const PlannedStep& step : StepsOf(trial.schedule)) {
    if (step.kind != StepKind::kEvaluate) continue;
    const ArenaLayout layout = PlaceInArena(training.Trace(step.kind, step.batch, 1));
    Evaluation& need = found->second;
    need.arena_bytes = std::max(need.arena_bytes, layout.arena_bytes);
    need.live_bytes = std::max(need.live_bytes, layout.lower_bound_bytes);
  }
  return found->second;
}

Footprint FootprintMeter::Measure(const TrainingSetup& setup, const Trial& trial,
                                  std::span<const PlannedStep> steps, std::int64_t place_up_to) {
  const Evaluation evaluation = MeasureEvaluation(setup, trial);
  DryTraining training(setup, trial);
  std::vector<MemoryTrace> traces;
  PagingTraffic paged;
  for (const PlannedStep& step : steps) {
    if (step.kind != StepKind::kTrain) continue;
    traces.push_back(training.Trace(step.kind, step.batch, step.times));
    if (traces.size() == 1) paged = training.paged();
  }
  Footprint footprint;
  footprint.paged = paged;
  footprint.outside = training.ledger().live();
  const std::int64_t outside = footprint.outside.Total();
  footprint.at_peak = training.ledger().at_peak();
  footprint.peak_bytes = std::max(training.ledger().peak_total(), outside + evaluation.live_bytes);
  footprint.bytes = footprint.peak_bytes;
  if (footprint.peak_bytes > place_up_to) return footprint;
  if (!setup.config.memory.use_activation_pooling) return footprint;
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

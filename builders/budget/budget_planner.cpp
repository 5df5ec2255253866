#include "builders/budget/budget_planner.h"

#include <algorithm>

#include "builders/budget/budget_limit.h"
#include "builders/budget/budget_refusal.h"
#include "builders/budget/paging_choice.h"
#include "builders/budget/paging_time.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const TrainingSetup& setup, const BudgetLimit& limit,
                         const PagedSearch& paged) {
  const RunConfig stated = WithSettings(setup.config, paged.stated);
  const DataLayout* custom = setup.dataset ? nullptr : &setup.layout;
  const std::string text = NothingFitsText(stated, custom, limit, *paged.search);
  const std::string field = FieldOf(limit.origin);
  throw MemoryError({.where = field, .required = text, .given = {}, .advice = {}},
                    stated.origins.PlaceOf(field));
}

std::int64_t DepthOf(const CheckpointSegments& segments) {
  std::int64_t depth = 0;
  for (const CheckpointSegment& segment : segments) {
    depth = std::max(depth, 1 + DepthOf(segment.inner));
  }
  return depth;
}

RecomputedStages RecomputedBy(const BudgetCandidate& chosen, const BudgetCandidate& before) {
  const CheckpointSegments& segments = chosen.chain.segments;
  RecomputedStages recomputed{
      .segments = std::ssize(segments), .depth = DepthOf(segments), .method = chosen.chain.method};
  for (const CheckpointSegment& segment : segments) {
    recomputed.stages += static_cast<std::int64_t>(segment.end - segment.begin);
  }
  const double seconds = before.chain.cost.seconds;
  if (seconds > 0 && chosen.settings.micro_batches == before.settings.micro_batches) {
    recomputed.more_time = chosen.chain.cost.seconds / seconds - 1;
  }
  return recomputed;
}

}  // namespace

std::optional<BudgetChoice> ChooseWithinBudget(const TrainingSetup& setup) {
  if (!setup.config.memory.memory_budget_mb) return std::nullopt;
  const BudgetLimit limit = ResolveBudget(setup.config.memory, ReadSystemMemory());
  PagedSearch paged = FastestPaged(setup, limit.bytes);
  BudgetSearch& search = *paged.search;
  const std::optional<BudgetCandidate>& chosen = paged.chosen;
  if (!chosen) Refuse(setup, limit, paged);
  const auto faster = search.FasterRounded(*chosen);
  const BudgetCandidate& before = search.unconstrained();
  BudgetChoice choice{.settings = chosen->settings,
                      .segments = {},
                      .final_after = search.FinalAfter(chosen->settings),
                      .plan = {}};
  choice.plan = {.budget_bytes = limit.bytes,
                 .origin = limit.origin,
                 .planned_bytes = chosen->footprint.bytes,
                 .unconstrained_bytes = paged.unconstrained_bytes,
                 .unconstrained = before.settings,
                 .chosen = chosen->settings,
                 .recomputed = RecomputedBy(*chosen, before),
                 .has_dropout = HasDropout(setup),
                 .paged = chosen->footprint.paged,
                 .page_seconds = paged.page_seconds};
  if (faster) {
    choice.plan.faster = {.settings = faster->settings,
                          .slowdown = faster->seconds / before.seconds};
  }
  if (before.seconds > 0 && chosen->seconds > 0) {
    choice.plan.predicted_slowdown =
        SecondsWithPaging(setup, *chosen, PassSeconds::Of(chosen->seconds, before.seconds)) /
        before.seconds;
  }
  if (const auto seconds = search.MeasuredSeconds(*chosen)) {
    const auto of_all = search.MeasuredSeconds(before);
    choice.plan.predicted_seconds =
        SecondsWithPaging(setup, *chosen, PassSeconds::Of(*seconds, of_all.value_or(*seconds)));
    if (of_all) choice.plan.predicted_slowdown = *choice.plan.predicted_seconds / *of_all;
  }
  const auto least = search.BoundsOf(*chosen);
  if (least && chosen->seconds > 0) {
    choice.plan.recomputed.bounds = {.as_low = least->as_low / chosen->seconds,
                                     .within_budget = least->within_budget / chosen->seconds};
  }
  if (search.free().segments == FreeKnobs::Segments::kAny) {
    choice.segments = chosen->chain.segments;
  }
  return choice;
}

}  // namespace frugal

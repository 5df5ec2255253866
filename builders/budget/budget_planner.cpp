#include "builders/budget/budget_planner.h"

#include "builders/budget/budget_limit.h"
#include "builders/budget/budget_refusal.h"
#include "builders/budget/budget_words.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const Blueprint& blueprint, const RunConfig& stated,
                         const BudgetLimit& limit, BudgetSearch& search) {
  const BudgetCandidate least = search.Least();
  const DataLayout* custom = blueprint.dataset ? nullptr : &blueprint.layout;
  const std::string text = RefusalText(limit, least, search.unconstrained(),
                                       AlternativesFor(stated, custom, limit.bytes, least));
  throw MemoryError({.where = limit.field, .required = text, .given = {}, .advice = {}},
                    stated.origins.PlaceOf(limit.field));
}

}  // namespace

std::optional<CheckpointSegments> ChooseWithinBudget(Blueprint& blueprint) {
  const RunConfig stated = blueprint.config;
  if (!stated.memory.memory_budget_mb) return std::nullopt;
  const BudgetLimit limit = ResolveBudget(stated.memory, ReadSystemMemory());
  BudgetSearch search(blueprint, limit.bytes);
  const auto chosen = search.Fastest();
  if (!chosen) Refuse(blueprint, stated, limit, search);
  const auto faster = search.FasterRounded(*chosen);
  Apply(stated, chosen->settings, blueprint);
  const BudgetCandidate& before = search.unconstrained();
  BudgetPlan budget = {.budget_bytes = limit.bytes,
                       .source = limit.source,
                       .planned_bytes = chosen->footprint.bytes,
                       .unconstrained_bytes = before.footprint.bytes,
                       .choices = ChoicesOf(blueprint, *chosen, before),
                       .faster = faster ? FasterText(blueprint, *faster, before) : ""};
  if (before.seconds > 0 && chosen->seconds > 0) {
    budget.predicted_slowdown = chosen->seconds / before.seconds;
  }
  blueprint.plan.budget = std::move(budget);
  if (search.free().segments != FreeKnobs::Segments::kAny) return std::nullopt;
  return chosen->chain.segments;
}

}  // namespace frugal

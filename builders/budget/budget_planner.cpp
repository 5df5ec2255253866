#include "builders/budget/budget_planner.h"

#include "builders/budget/budget_limit.h"
#include "builders/budget/budget_refusal.h"
#include "builders/budget/budget_words.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const TrainingSetup& setup, const BudgetLimit& limit,
                         BudgetSearch& search) {
  const RunConfig& stated = setup.config;
  const BudgetCandidate least = search.Least();
  const DataLayout* custom = setup.dataset ? nullptr : &setup.layout;
  const std::string text = RefusalText(limit, least, search.unconstrained(),
                                       AlternativesFor(stated, custom, limit.bytes, least));
  throw MemoryError({.where = limit.field, .required = text, .given = {}, .advice = {}},
                    stated.origins.PlaceOf(limit.field));
}

}  // namespace

std::optional<BudgetChoice> ChooseWithinBudget(const TrainingSetup& setup) {
  if (!setup.config.memory.memory_budget_mb) return std::nullopt;
  const BudgetLimit limit = ResolveBudget(setup.config.memory, ReadSystemMemory());
  BudgetSearch search(setup, limit.bytes);
  const auto chosen = search.Fastest();
  if (!chosen) Refuse(setup, limit, search);
  const auto faster = search.FasterRounded(*chosen);
  const BudgetCandidate& before = search.unconstrained();
  BudgetChoice choice{.settings = chosen->settings, .segments = {}, .plan = {}};
  choice.plan = {.budget_bytes = limit.bytes,
                 .source = limit.source,
                 .planned_bytes = chosen->footprint.bytes,
                 .unconstrained_bytes = before.footprint.bytes,
                 .choices = ChoicesOf(setup, *chosen, before),
                 .faster = faster ? FasterText(setup, *faster, before) : ""};
  if (before.seconds > 0 && chosen->seconds > 0) {
    choice.plan.predicted_slowdown = chosen->seconds / before.seconds;
  }
  if (search.free().segments == FreeKnobs::Segments::kAny) {
    choice.segments = chosen->chain.segments;
  }
  return choice;
}

}  // namespace frugal

#include "builders/run/best_evaluation.h"

#include <cmath>

#include "builders/execute/evaluation_number.h"

namespace frugal {

void BestEvaluation::Resume(const std::optional<BestResult>& best, std::int64_t since) {
  if (best && best->by != by_) return;
  best_ = best;
  since_ = since;
}

bool BestEvaluation::Take(const Evaluation& evaluation) {
  const double value = EvaluationNumber(evaluation.result, by_, "training.best_by");
  const bool larger = LargerIsBetter(by_);
  const bool is_better =
      best_ ? (larger ? value > best_->value : value < best_->value) : !std::isnan(value);
  if (is_better) best_ = {.step = evaluation.step, .by = by_, .value = value};
  since_ = is_better ? 0 : since_ + 1;
  return is_better;
}

}  // namespace frugal

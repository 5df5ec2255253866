#pragma once

#include <optional>
#include <string>

#include "builders/execute/training_result.h"

namespace frugal {

// Finds the best of a training's evaluations by "loss", "accuracy" or one of its metrics.
class BestEvaluation {
 public:
  explicit BestEvaluation(std::string by) : by_(std::move(by)) {}

  // Goes on from the best one of before, unless that was told by another number.
  void Resume(const std::optional<BestResult>& best, std::int64_t since);
  // Returns whether it is better than all before; NaN never is. Throws ConfigError where the
  // evaluation has no such number.
  bool Take(const Evaluation& evaluation);
  // How many were taken since the best one.
  std::int64_t since() const { return since_; }
  const std::optional<BestResult>& best() const { return best_; }

 private:
  std::string by_;
  std::int64_t since_ = 0;
  std::optional<BestResult> best_;
};

}  // namespace frugal

#pragma once

#include <string>

#include "tests/support/test_environment.h"

// Each prints a line per case to the standard output.
namespace frugal::oracles {

// How many cases there were, and how many were over the tolerance or could not be computed.
struct CheckCount {
  int cases = 0;
  int failures = 0;
};

// Relative norms of differences. bf16 rounds each activation to 8 bits, and a network many times.
struct Tolerance {
  double output, gradient;  // of operations
  double model_output, model_gradient;
  double training;  // of losses, norms, all weights as one
  double loss;      // of each step's loss alone
};
inline Tolerance ToleranceOf(const testing::EnvironmentKind& kind) {
  if (kind.dtype == DType::kBF16) return {1e-2, 2e-2, 3e-2, 1e-1, 4e-2, 1e-2};
  return {1e-5, 1e-4, 1e-5, 1e-4, 1e-4, 1e-4};
}
inline constexpr double kTimesRounding = 6;  // see CheckModel
inline constexpr double kOutputTolerance = 1e-5;
// Adam moves what has no gradient but rounding (a bias that every key shares) by as much as the
// rest, in directions that nobody computes alike.
inline constexpr double kFinalWeightTolerance = 1e-3;

CheckCount CheckOperations(const std::string& directory, const testing::EnvironmentKind& kind);
CheckCount CheckOptimizers(const std::string& file, const testing::EnvironmentKind& kind);

// A directory of cases, or of one.
CheckCount CheckModels(const std::string& directory, const testing::EnvironmentKind& kind);
CheckCount CheckTraining(const std::string& directory, const testing::EnvironmentKind& kind);

// "ok   " or "FAIL ", and the name in a column of its own.
std::string LineStart(bool passed, const std::string& name);
std::string ErrorText(double error);

}  // namespace frugal::oracles

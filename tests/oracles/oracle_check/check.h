#pragma once

#include <string>

#include "tests/support/test_world.h"

// Each prints a line per case to the standard output.
namespace frugal::oracles {

// How many cases there were, and how many were over the tolerance or could not be computed.
struct CheckCount {
  int cases = 0;
  int failures = 0;
};

inline constexpr double kOutputTolerance = 1e-5;
inline constexpr double kGradientTolerance = 1e-4;
inline constexpr double kTrainingTolerance = 1e-4;  // of losses, norms, all weights as one
// Adam moves what has no gradient but rounding (a bias that every key shares) by as much as the
// rest, in directions that nobody computes alike.
inline constexpr double kFinalWeightTolerance = 1e-3;

CheckCount CheckOperations(const std::string& directory, const test::WorldKind& kind);
CheckCount CheckOptimizers(const std::string& file, const test::WorldKind& kind);

// A directory of cases, or of one.
CheckCount CheckModels(const std::string& directory, const test::WorldKind& kind);
CheckCount CheckTraining(const std::string& directory, const test::WorldKind& kind);

// "ok   " or "FAIL ", and the name in a column of its own.
std::string LineStart(bool passed, const std::string& name);
std::string ErrorText(double error);

}  // namespace frugal::oracles

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "sdk/core/error.h"
#include "tests/oracles/model_case.h"
#include "tests/oracles/oracle_check/check.h"
#include "tests/oracles/training_case.h"

namespace frugal::oracles {
namespace {

std::string NameIn(const std::string& directory) {
  std::string path = directory;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return std::filesystem::path(path).filename().string();
}

bool CheckModel(const std::string& directory, const testing::EnvironmentKind& kind) {
  const ModelCase one = ReadModelCase(directory);
  const std::map<std::string, double> errors = ModelErrors(one, kind);
  const Tolerance tolerance = ToleranceOf(kind);
  // In bf16, a gradient behind norms over few numbers changes much where the weights are rounded,
  // whatever computes it: it may differ by some times that.
  const bool exact = kind.dtype != DType::kBF16;
  const std::map<std::string, double> rounding =
      exact ? std::map<std::string, double>() : RoundingErrors(one);
  std::pair<std::string, double> worst{"", -1};
  bool gradients_pass = true;
  for (const auto& error : errors) {
    if (error.first == "output" || error.first == "loss") continue;
    if (error.second > worst.second) worst = error;
    const double unavoidable = exact ? 0 : kTimesRounding * rounding.at(error.first);
    gradients_pass &= error.second <= std::max(tolerance.model_gradient, unavoidable);
  }
  const double output = errors.at("output");
  const double loss = errors.at("loss");
  const bool passed =
      output <= tolerance.model_output && loss <= tolerance.model_output && gradients_pass;
  std::cout << LineStart(passed, one.name) << "output " << ErrorText(output) << "  loss "
            << ErrorText(loss) << "  worst gradient " << ErrorText(worst.second) << " "
            << worst.first << " of " << errors.size() - 2 << "\n";
  return passed;
}

bool CheckRun(const std::string& directory, const testing::EnvironmentKind& kind) {
  const TrainingErrors errors = TrainCase(directory, kind);
  const Tolerance tolerance = ToleranceOf(kind);
  const bool exact = kind.dtype != DType::kBF16;
  const bool passed = errors.WorstLoss() <= tolerance.loss &&
                      errors.WorstNorm() <= tolerance.training &&
                      errors.all_weights <= tolerance.training &&
                      (!exact || errors.worst_weight <= kFinalWeightTolerance);
  std::cout << LineStart(passed, NameIn(directory)) << "losses " << ErrorText(errors.WorstLoss())
            << "  gradient norms " << ErrorText(errors.WorstNorm()) << "  weights after "
            << errors.losses.size() << " steps " << ErrorText(errors.all_weights) << ", worst "
            << ErrorText(errors.worst_weight) << " " << errors.worst_name << "\n";
  return passed;
}

// Each case by itself: one that cannot be read or computed is a failure, the others still run.
CheckCount CheckEach(const std::string& directory, const testing::EnvironmentKind& kind,
                     bool (*check)(const std::string&, const testing::EnvironmentKind&)) {
  CheckCount count;
  for (const std::string& one : ModelCaseDirectories(directory)) {
    ++count.cases;
    try {
      if (!check(one, kind)) ++count.failures;
    } catch (const std::exception& error) {
      std::cout << LineStart(false, NameIn(one)) << error.what() << "\n";
      ++count.failures;
    }
  }
  return count;
}

}  // namespace

CheckCount CheckModels(const std::string& directory, const testing::EnvironmentKind& kind) {
  return CheckEach(directory, kind, CheckModel);
}

CheckCount CheckTraining(const std::string& directory, const testing::EnvironmentKind& kind) {
  return CheckEach(directory, kind, CheckRun);
}

}  // namespace frugal::oracles

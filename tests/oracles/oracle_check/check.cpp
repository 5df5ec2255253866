#include "tests/oracles/oracle_check/check.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/oracles/operations.h"
#include "tests/oracles/optimizer_case.h"

namespace frugal::oracles {
namespace {

// The case's line, and whether it passed.
bool CheckCase(const OracleCase& one, const testing::EnvironmentKind& kind) {
  const OracleRun::Function function = FindOperation(one.operation);
  if (function == nullptr) {
    std::cout << LineStart(false, one.Name()) << "this operation does not exist here\n";
    return false;
  }
  testing::TestEnvironment environment(kind);
  OracleRun run(environment, one);
  const std::map<std::string, double> errors = run.Errors(function);
  std::pair<std::string, double> worst{"", -1};
  for (const auto& error : errors) {
    if (error.first != "out" && error.second > worst.second) worst = error;
  }
  const double output = errors.at("out");
  const bool passed =
      output <= ToleranceOf(kind).output && worst.second <= ToleranceOf(kind).gradient;
  std::cout << LineStart(passed, one.Name()) << "output " << ErrorText(output);
  if (worst.second >= 0) {
    std::cout << "  worst gradient " << ErrorText(worst.second) << " " << worst.first;
  }
  for (const std::string& name : run.NotDifferentiated()) {
    std::cout << "  (not differentiated: " << name << ")";
  }
  std::cout << "\n";
  return passed;
}

// A case that cannot be computed is a failure of its own; the others still run.
bool CheckCaseOrSayWhy(const OracleCase& one, const testing::EnvironmentKind& kind) {
  try {
    return CheckCase(one, kind);
  } catch (const Error& error) {
    std::cout << LineStart(false, one.Name()) << error.what() << "\n";
  } catch (const nlohmann::json::exception& error) {
    std::cout << LineStart(false, one.Name()) << "attributes: " << error.what() << "\n";
  }
  return false;
}

bool CheckOptimizer(const WeightSource& source, const std::string& name,
                    const testing::EnvironmentKind& kind) {
  testing::TestEnvironment environment(kind);
  const std::vector<double> errors = OptimizerErrors(environment, source, name);
  const auto worst = std::max_element(errors.begin(), errors.end());
  const bool passed = worst != errors.end() && *worst <= kOutputTolerance;
  std::cout << LineStart(passed, name) << "parameters " << ErrorText(*worst) << " at step "
            << worst - errors.begin() + 1 << " of " << errors.size() << "\n";
  return passed;
}

}  // namespace

std::string LineStart(bool passed, const std::string& name) {
  std::string text = (passed ? "ok    " : "FAIL  ") + name;
  text.resize(std::max<std::size_t>(text.size() + 2, 30), ' ');
  return text;
}

std::string ErrorText(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", error);
  return text;
}

CheckCount CheckOperations(const std::string& directory, const testing::EnvironmentKind& kind) {
  CheckCount count;
  for (const OracleCase& one : ReadIndex(directory)) {
    ++count.cases;
    if (!CheckCaseOrSayWhy(one, kind)) ++count.failures;
  }
  return count;
}

CheckCount CheckOptimizers(const std::string& file, const testing::EnvironmentKind& kind) {
  CheckCount count;
  const auto source = OpenWeights(file);
  for (const std::string& name : OptimizerNames(*source)) {
    ++count.cases;
    try {
      if (!CheckOptimizer(*source, name, kind)) ++count.failures;
    } catch (const Error& error) {
      std::cout << LineStart(false, name) << error.what() << "\n";
      ++count.failures;
    }
  }
  return count;
}

}  // namespace frugal::oracles

#include <iostream>

#include "tests/oracles/oracle_check/arguments.h"
#include "tests/oracles/oracle_check/check.h"

namespace frugal::oracles {
namespace {

constexpr int kOverTolerance = 1;
constexpr int kCannotCheck = 2;

using CheckFunction = CheckCount (*)(const std::string&, const testing::EnvironmentKind&);

CheckFunction FunctionFor(const std::string& command) {
  if (command == "ops") return CheckOperations;
  if (command == "models") return CheckModels;
  return command == "train" ? CheckTraining : CheckOptimizers;
}

int Main(int count, const char* const* words) {
  const CheckArguments arguments = ReadCheckArguments(count, words);
  const CheckFunction check = FunctionFor(arguments.command);
  CheckCount total;
  for (const std::string& path : arguments.paths) {
    const CheckCount one = check(path, arguments.environment);
    total.cases += one.cases;
    total.failures += one.failures;
  }
  std::cout << total.cases - total.failures << " of " << total.cases << " cases agree on "
            << arguments.environment << std::endl;
  if (total.cases == 0) {
    std::cerr << "error: there is no case to check" << std::endl;
    return kCannotCheck;
  }
  return total.failures == 0 ? 0 : kOverTolerance;
}

}  // namespace
}  // namespace frugal::oracles

int main(int count, char** words) {
  try {
    return frugal::oracles::Main(count, words);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return frugal::oracles::kCannotCheck;
  }
}

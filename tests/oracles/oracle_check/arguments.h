#pragma once

#include <string>
#include <vector>

#include "tests/support/test_environment.h"

namespace frugal::oracles {

// oracle_check COMMAND PATH... [--backend eigen|onednn] [--precision f32|bf16|f64]
struct CheckArguments {
  std::string command;
  std::vector<std::string> paths;
  testing::EnvironmentKind environment = testing::kOneDnnF32;
};

// Throws UsageError for what is not of this form, or not computed by the backend.
CheckArguments ReadCheckArguments(int count, const char* const* arguments);

}  // namespace frugal::oracles

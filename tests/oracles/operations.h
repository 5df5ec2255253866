#pragma once

#include <string>

#include "tests/oracles/oracle_run.h"

namespace frugal::oracles {

// How an operation's case is computed here; null where the operation does not exist yet.
OracleRun::Function FindOperation(const std::string& operation);

}  // namespace frugal::oracles

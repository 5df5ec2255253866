#pragma once

#include <cstdint>

#include "builders/cli/number_option.h"

// The numbers that commands on captures take.
namespace frugal::cli {

inline const NumberRange<std::int64_t> kStepRange = {1, 1'000'000,
                                                     "a whole number from 1 to 1,000,000"};
inline const NumberRange<double> kTimeoutRange = {0.1, 1e6, "seconds from 0.1 to 1,000,000"};
inline const NumberRange<int> kThreadRange = {1, 1024, "a whole number from 1 to 1024"};

}  // namespace frugal::cli

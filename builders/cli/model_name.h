#pragma once

#include <string>

namespace frugal::cli {

// True for the name of a published model, unless there is a file of that name. Throws ConfigError
// where there is neither.
bool IsModel(const std::string& given);

}  // namespace frugal::cli

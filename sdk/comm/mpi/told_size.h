#pragma once

#include <optional>
#include <string>

namespace frugal {

// Holds what the program that started this process told it in its environment.
struct ToldSize {
  int processes = 1;
  std::string variable;  // that says so
};
// Returns nothing where nobody started it in company.
std::optional<ToldSize> ReadToldSize();

}  // namespace frugal

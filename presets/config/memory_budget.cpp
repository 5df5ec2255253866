#include "presets/config/memory_budget.h"

#include <array>
#include <charconv>

namespace frugal {

std::optional<double> ParsePercent(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  text.remove_suffix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double percent = 0;
  const auto [stop, problem] =
      std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
  const bool whole = problem == std::errc{} && stop == text.data() + text.size();
  return whole && percent > 0 && percent <= 100 ? std::optional(percent) : std::nullopt;
}

std::string PercentText(const MemoryBudget& budget) {
  std::array<char, 400> digits{};  // the least double has 324 places
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                            budget.percent, std::chars_format::fixed);
  return std::string(digits.data(), problem == std::errc{} ? end : digits.data()) + "%";
}

}  // namespace frugal

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frugal {

// Tells how much memory a training may take: a number of MB, or a share of what the machine, or the
// control group that the process runs in, has. One of the two is above 0.
struct MemoryBudget {
  std::int64_t megabytes = 0;
  double percent = 0;

  bool operator==(const MemoryBudget&) const = default;
};

// "70%" or "12.5 %"; nothing for what is no share above 0 and up to 100%.
std::optional<double> ParsePercent(std::string_view text);
// The regular expression of such texts, for the schema of a file.
inline constexpr std::string_view kPercentPattern =
    R"(^(?=.*[1-9])0*(100(\.0*)?|[0-9]{0,2}(\.[0-9]*)?) *%$)";

// The share as it is written: "70%", "12.5%".
std::string PercentText(const MemoryBudget& budget);

}  // namespace frugal

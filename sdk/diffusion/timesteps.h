#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace frugal {

// Says which of T training times a sampler of fewer steps visits (Lin et al., arXiv:2305.08891,
// table 2), e.g. 5 of 1000.
enum class TimestepSpacing : std::uint8_t {
  kLeading,   // 800, 600, 400, 200, 0
  kLinspace,  // 999, 749, 500, 250, 0
  kTrailing,  // 999, 799, 599, 399, 199
};
std::string_view NameOf(TimestepSpacing spacing);  // "leading", "linspace", "trailing"

// Falling times in [0, T). ConfigError unless 1 <= steps <= T.
std::vector<std::int64_t> Timesteps(std::int64_t training_steps, std::int64_t steps,
                                    TimestepSpacing spacing);

}  // namespace frugal

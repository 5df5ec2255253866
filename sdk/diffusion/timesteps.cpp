#include "sdk/diffusion/timesteps.h"

#include <cmath>
#include <string>

#include "sdk/core/error.h"

namespace frugal {

std::string_view NameOf(TimestepSpacing spacing) {
  switch (spacing) {
    case TimestepSpacing::kLeading:
      return "leading";
    case TimestepSpacing::kLinspace:
      return "linspace";
    case TimestepSpacing::kTrailing:
      break;
  }
  return "trailing";
}

std::vector<std::int64_t> Timesteps(std::int64_t training_steps, std::int64_t steps,
                                    TimestepSpacing spacing) {
  if (steps < 1 || steps > training_steps) {
    throw ConfigError({.where = "sampler",
                       .required = "a sampler takes at least 1 step, and at most the " +
                                   std::to_string(training_steps) + " of its noise schedule",
                       .given = "it was asked for " + std::to_string(steps),
                       .advice = "20 to 50 are usual"});
  }
  std::vector<std::int64_t> times;
  const auto total = static_cast<double>(training_steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto left = static_cast<double>(steps - i);  // steps left, this one included
    switch (spacing) {
      case TimestepSpacing::kLeading:
        times.push_back((steps - 1 - i) * (training_steps / steps));
        break;
      case TimestepSpacing::kLinspace: {
        const double part = steps == 1 ? 1 : (left - 1) / static_cast<double>(steps - 1);
        times.push_back(std::llround((total - 1) * part));
        break;
      }
      case TimestepSpacing::kTrailing:
        times.push_back(std::llround(total * left / static_cast<double>(steps)) - 1);
        break;
    }
  }
  return times;
}

}  // namespace frugal

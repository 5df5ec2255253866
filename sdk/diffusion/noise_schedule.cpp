#include "sdk/diffusion/noise_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "sdk/core/error.h"

namespace frugal {
namespace {

// Evenly from `first` to `last`, both included.
double Between(double first, double last, std::int64_t step, std::int64_t steps) {
  if (steps == 1) return first;
  return first + (last - first) * static_cast<double>(step) / static_cast<double>(steps - 1);
}

double CosineBeta(std::int64_t t, std::int64_t steps) {
  const auto alpha_bar = [steps](std::int64_t step) {
    constexpr double kOffset = 0.008;
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    return std::pow(std::cos((part + kOffset) / (1 + kOffset) * std::numbers::pi / 2), 2);
  };
  return std::min(0.999, 1 - alpha_bar(t + 1) / alpha_bar(t));
}

double BetaAt(const NoiseScheduleOptions& o, std::int64_t t) {
  switch (o.betas) {
    case BetaSchedule::kLinear:
      return Between(o.first_beta, o.last_beta, t, o.steps);
    case BetaSchedule::kScaledLinear:
      return std::pow(Between(std::sqrt(o.first_beta), std::sqrt(o.last_beta), t, o.steps), 2);
    case BetaSchedule::kCosine:
      break;
  }
  return CosineBeta(t, o.steps);
}

void CheckOptions(const NoiseScheduleOptions& o) {
  const auto is_beta = [](double beta) { return beta > 0 && beta < 1; };
  if (o.steps < 1) {
    throw ConfigError({.where = "noise schedule",
                       .required = "a noise schedule has at least one step",
                       .given = "it was given " + std::to_string(o.steps),
                       .advice = "1000 are usual"});
  }
  if (o.betas != BetaSchedule::kCosine && !(is_beta(o.first_beta) && is_beta(o.last_beta))) {
    throw ConfigError({.where = "noise schedule",
                       .required = "the first and the last beta lie between 0 and 1",
                       .given = "they are " + std::to_string(o.first_beta) + " and " +
                                std::to_string(o.last_beta),
                       .advice = "0.0001 and 0.02 are usual"});
  }
}

}  // namespace

std::string_view NameOf(BetaSchedule betas) {
  switch (betas) {
    case BetaSchedule::kLinear:
      return "linear";
    case BetaSchedule::kScaledLinear:
      return "scaled_linear";
    case BetaSchedule::kCosine:
      break;
  }
  return "cosine";
}

NoiseSchedule::NoiseSchedule(const NoiseScheduleOptions& options) {
  CheckOptions(options);
  double alpha_bar = 1;
  for (std::int64_t t = 0; t < options.steps; ++t) {
    betas_.push_back(BetaAt(options, t));
    alpha_bar *= 1 - betas_.back();
    alpha_bars_.push_back(alpha_bar);
  }
}

double NoiseSchedule::AlphaBar(std::int64_t t) const {
  if (t < -1 || t >= steps()) {
    throw UsageError({.where = "noise schedule",
                      .required = "a time lies in [-1, " + std::to_string(steps()) + ")",
                      .given = "it is " + std::to_string(t),
                      .advice = {}});
  }
  return t < 0 ? 1 : alpha_bars_[static_cast<std::size_t>(t)];
}

NoiseLevel NoiseSchedule::Level(std::int64_t t) const {
  const double alpha_bar = AlphaBar(t);
  return {std::sqrt(alpha_bar), std::sqrt(1 - alpha_bar)};
}

}  // namespace frugal

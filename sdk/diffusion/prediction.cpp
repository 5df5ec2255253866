#include "sdk/diffusion/prediction.h"

#include <string>

#include "sdk/core/error.h"

namespace frugal {
namespace {

// result[i] = of(a[i], b[i]) in double precision.
template <class Function>
void Combine(std::string_view where, std::span<const float> a, std::span<const float> b,
             std::span<float> result, const Function& of) {
  if (a.size() != b.size() || a.size() != result.size()) {
    throw UsageError({.where = std::string(where),
                      .required = "all arrays have as many numbers",
                      .given = "they have " + std::to_string(a.size()) + ", " +
                               std::to_string(b.size()) + " and " + std::to_string(result.size()),
                      .advice = {}});
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    result[i] = static_cast<float>(of(static_cast<double>(a[i]), static_cast<double>(b[i])));
  }
}

}  // namespace

std::string_view NameOf(PredictionKind kind) {
  switch (kind) {
    case PredictionKind::kEpsilon:
      return "epsilon";
    case PredictionKind::kVelocity:
      return "v";
    case PredictionKind::kSample:
      break;
  }
  return "sample";
}

Prediction ReadPrediction(PredictionKind kind, const NoiseLevel& level, double x, double output) {
  const auto [signal, noise] = level;
  switch (kind) {
    case PredictionKind::kEpsilon:
      return {(x - noise * output) / signal, output};
    case PredictionKind::kVelocity:
      return {signal * x - noise * output, noise * x + signal * output};
    case PredictionKind::kSample:
      break;
  }
  return {output, (x - signal * output) / noise};
}

double TargetOf(PredictionKind kind, const NoiseLevel& level, double x0, double noise) {
  switch (kind) {
    case PredictionKind::kEpsilon:
      return noise;
    case PredictionKind::kVelocity:
      return level.signal * noise - level.noise * x0;
    case PredictionKind::kSample:
      break;
  }
  return x0;
}

void AddNoise(const NoiseLevel& level, std::span<const float> x0, std::span<const float> noise,
              std::span<float> x_t) {
  Combine("add noise", x0, noise, x_t,
          [&](double x, double n) { return level.signal * x + level.noise * n; });
}

void FillTarget(PredictionKind kind, const NoiseLevel& level, std::span<const float> x0,
                std::span<const float> noise, std::span<float> target) {
  Combine("target of diffusion", x0, noise, target,
          [&](double x, double n) { return TargetOf(kind, level, x, n); });
}

NoiseLevel FlowLevel(FlowDirection direction, double t) {
  if (direction == FlowDirection::kDataAtZero) return {1 - t, t};
  return {t, 1 - t};
}

void FillVelocity(FlowDirection direction, std::span<const float> x0, std::span<const float> noise,
                  std::span<float> velocity) {
  const double sign = direction == FlowDirection::kDataAtZero ? 1 : -1;
  Combine("velocity of a flow", x0, noise, velocity,
          [&](double x, double n) { return sign * (n - x); });
}

void Guided(std::span<const float> conditional, std::span<const float> unconditional, double scale,
            std::span<float> guided) {
  Combine("guidance", conditional, unconditional, guided,
          [&](double c, double u) { return scale == 1 ? c : u + scale * (c - u); });
}

}  // namespace frugal

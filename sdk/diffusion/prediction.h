#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sdk/diffusion/noise_schedule.h"

namespace frugal {

// Names what a network that sees x_t is trained to say.
enum class PredictionKind : std::uint8_t {
  kEpsilon,   // the noise n (Ho et al., arXiv:2006.11239)
  kVelocity,  // signal n - noise x0 (Salimans & Ho, arXiv:2202.00512, section 4)
  kSample,    // the data x0
};
std::string_view NameOf(PredictionKind kind);  // "epsilon", "v", "sample"

// Data and noise that a network's output stands for.
struct Prediction {
  double sample = 0;
  double noise = 0;
};
// Reads one number of the output, with signal^2 + noise^2 = 1 and neither 0.
Prediction ReadPrediction(PredictionKind kind, const NoiseLevel& level, double x, double output);
// Returns what the network should have said.
double TargetOf(PredictionKind kind, const NoiseLevel& level, double x0, double noise);

// x_t = signal x0 + noise n, for training; x_t may be x0 or n.
void AddNoise(const NoiseLevel& level, std::span<const float> x0, std::span<const float> noise,
              std::span<float> x_t);
// Writes what the network should have said for whole targets.
void FillTarget(PredictionKind kind, const NoiseLevel& level, std::span<const float> x0,
                std::span<const float> noise, std::span<float> target);

// Straight paths between data and noise (Lipman et al., arXiv:2210.02747; Liu et al.,
// arXiv:2209.03003): the network says the velocity dx_t / dt, which is the same all the way.
enum class FlowDirection : std::uint8_t {
  kDataAtZero,  // x_t = (1 - t) x0 + t n, velocity n - x0 (Stable Diffusion 3, FLUX)
  kDataAtOne,   // x_t = t x0 + (1 - t) n, velocity x0 - n (SiT, Lumina)
};
NoiseLevel FlowLevel(FlowDirection direction, double t);
void FillVelocity(FlowDirection direction, std::span<const float> x0, std::span<const float> noise,
                  std::span<float> velocity);

// unconditional + scale (conditional - unconditional): classifier-free guidance (Ho & Salimans,
// arXiv:2207.12598, where the scale is called 1 + w). `guided` may be one of the two. At scale 1
// it is the conditional one to the bit.
void Guided(std::span<const float> conditional, std::span<const float> unconditional, double scale,
            std::span<float> guided);

}  // namespace frugal

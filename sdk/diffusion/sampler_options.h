#pragma once

#include <cstdint>
#include <string_view>

#include "sdk/diffusion/prediction.h"
#include "sdk/diffusion/timesteps.h"

namespace frugal {

enum class SamplerKind : std::uint8_t {
  kDdpm,       // ancestral (Ho et al., arXiv:2006.11239, algorithm 2)
  kDdim,       // Song et al., arXiv:2010.02502, equation 12
  kDpmSolver,  // DPM-Solver++(2M) (Lu et al., arXiv:2211.01095, algorithm 2)
  kEulerFlow,  // Euler's method along the velocity of a flow
};
std::string_view NameOf(SamplerKind kind);  // "ddpm", "ddim", "dpm_solver", "euler_flow"

struct SamplerOptions {
  SamplerKind kind = SamplerKind::kDdim;
  std::int64_t steps = 50;
  std::uint64_t seed = 0;  // of the first noise, and of what DDPM and DDIM add later

  // All but kEulerFlow:
  NoiseScheduleOptions schedule = {};
  PredictionKind prediction = PredictionKind::kEpsilon;
  TimestepSpacing spacing = TimestepSpacing::kTrailing;
  double clip = 0;  // predicted data are kept within +-clip; 0 = as they are
  // kDdim: 0 = no noise is added, 1 = as much as DDPM adds.
  double eta = 0;
  // kDdpm: adds beta instead of the posterior's variance, the upper of the two bounds.
  bool large_variance = false;

  // kEulerFlow:
  FlowDirection direction = FlowDirection::kDataAtZero;
  // Larger than 1: more steps where there is much noise, s' = shift s / (1 + (shift - 1) s) of the
  // noise's share s (Esser et al., arXiv:2403.03206, section 5.3.2).
  double shift = 1;
};

}  // namespace frugal

#include "sdk/diffusion/sampler_options.h"

namespace frugal {

std::string_view NameOf(SamplerKind kind) {
  switch (kind) {
    case SamplerKind::kDdpm:
      return "ddpm";
    case SamplerKind::kDdim:
      return "ddim";
    case SamplerKind::kDpmSolver:
      return "dpm_solver";
    case SamplerKind::kEulerFlow:
      break;
  }
  return "euler_flow";
}

}  // namespace frugal

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

// Diffusion in plain numbers: no tensors, no network. Letters: x0 data, n standard normal noise,
// x_t = signal x0 + noise n the data seen at time t.
namespace frugal {

// Shares of data and noise at one time. Of a diffusion process, signal^2 + noise^2 = 1.
struct NoiseLevel {
  double signal = 1;
  double noise = 0;
};

enum class BetaSchedule : std::uint8_t {
  kLinear,        // from first_beta to last_beta (Ho et al., arXiv:2006.11239, section 4)
  kScaledLinear,  // the squares of what runs evenly from root to root (Stable Diffusion)
  kCosine,        // Nichol & Dhariwal, arXiv:2102.09672, equation 17, betas at most 0.999
};
std::string_view NameOf(BetaSchedule betas);  // "linear", "scaled_linear", "cosine"

struct NoiseScheduleOptions {
  BetaSchedule betas = BetaSchedule::kLinear;
  std::int64_t steps = 1000;  // T
  double first_beta = 1e-4;   // not of kCosine
  double last_beta = 0.02;
};

// The process x_t = sqrt(1 - beta_t) x_{t-1} + sqrt(beta_t) n for t = 0 ... T - 1, where x_{-1} is
// the data: papers count from 1.
class NoiseSchedule {
 public:
  // ConfigError without steps, or where a beta is not between 0 and 1.
  explicit NoiseSchedule(const NoiseScheduleOptions& options = {});

  std::int64_t steps() const { return static_cast<std::int64_t>(betas_.size()); }
  double Beta(std::int64_t t) const { return betas_[static_cast<std::size_t>(t)]; }
  // The product of 1 - beta up to t; 1 before the first step, at t = -1. UsageError outside of
  // [-1, T).
  double AlphaBar(std::int64_t t) const;
  NoiseLevel Level(std::int64_t t) const;  // sqrt(alpha_bar), sqrt(1 - alpha_bar)

 private:
  std::vector<double> betas_;
  std::vector<double> alpha_bars_;
};

}  // namespace frugal

#pragma once

#include "layers/convolution.h"

// Images [N, H, W, C] to half and to twice their height and width, by convolutions of 3 x 3 pixels
// that mostly keep the channels (Ho et al., arXiv:2006.11239). Parameters: conv.weight, conv.bias.
namespace frugal {

class Downsampler final : public Module {
 public:
  // Zeros around the image; 0: one row and one column of them, at the end only. `outputs`: channels
  // that come out; 0: as many.
  Downsampler(std::int64_t channels, std::int64_t padding, std::int64_t outputs = 0);

  Var operator()(Context& context, const Var& x);
  std::string Describe() const;

 private:
  WindowOptions window_;
  Parameter& weight_;
  Parameter& bias_;
};

class Upsampler final : public Module {
 public:
  explicit Upsampler(std::int64_t channels);

  // Each pixel four times, then the convolution.
  Var operator()(Context& context, const Var& x);
  std::string Describe() const { return "upsampler, " + conv_.Describe(); }

 private:
  Conv2d conv_;
};

}  // namespace frugal

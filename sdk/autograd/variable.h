#pragma once

#include <memory>
#include <vector>

#include "sdk/tensor/tensor.h"

namespace frugal {

class Remake;

// A tensor on its way through the network, and where its gradient collects on the tape.
struct Var {
  static constexpr int kNoGradient = -1;

  Tensor value;
  int slot = kNoGradient;
  std::shared_ptr<Remake> remake{};  // how the value is made again (kept_value.h), or none

  bool needs_gradient() const { return slot != kNoGradient; }
  const Shape& shape() const { return value.shape(); }
  DType dtype() const { return value.dtype(); }
};

// Variables that travel through a network together: first the one that layers work on, then what
// they hand on beside it (conditioning, a second stream, skips).
using Bundle = std::vector<Var>;

}  // namespace frugal

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sdk/tensor/tensor.h"

namespace frugal {

class Remat;

// A tensor on its way through the network, and where its gradient collects on the tape.
struct Var {
  static constexpr int kNoGradient = -1;

  Tensor value;
  int slot = kNoGradient;
  std::shared_ptr<Remat> remat{};  // how the value is rematerialized (saved_tensor.h), or none
  bool is_skip = false;            // in a tuple: see PushSkip

  bool needs_gradient() const { return slot != kNoGradient; }
  const Shape& shape() const { return value.shape(); }
  DType dtype() const { return value.dtype(); }
};

// Variables that travel through a network together: first the one that layers work on, then what
// they hand on beside it (conditioning, a second stream, skips).
using VarTuple = std::vector<Var>;

// Appends a variable that a later layer pops. That layer must not push the same tensor again.
// Layers between do not touch it: where they run again in a segment, it may have no value.
inline void PushSkip(VarTuple& vars, Var x) {
  x.is_skip = true;
  vars.push_back(std::move(x));
}

// Takes the last variable off the tuple.
inline Var PopSkip(VarTuple& vars) {
  Var last = std::move(vars.back());
  vars.pop_back();
  last.is_skip = false;
  return last;
}

}  // namespace frugal

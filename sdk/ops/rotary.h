#pragma once

#include "sdk/ops/sequence.h"

namespace frugal {

// Cosines and sines [positions, rotary_size / 2] of position t's angles t / base^(2i / rotary_size)
// (Su et al., arXiv:2104.09864, section 3.2.2), for Rotate.
struct RotaryAngles {
  Tensor cosine;
  Tensor sine;
};
struct RotaryPositions {
  std::int64_t first = 0;
  std::int64_t positions = 0;
  std::int64_t rotary_size = 0;  // even
  double base = 10000;
};
RotaryAngles AnglesOf(Context& context, const RotaryPositions& positions);

}  // namespace frugal

#pragma once

#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/backend/sequence_kernels.h"

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

// Rotates heads in x [B, T, row] by the angles whose cosines and sines [T, rotary_size / 2] are
// given. Keeps the angles.
Var Rotate(Context& context, const Var& x, const RotaryGeometry& geometry, const Tensor& cosine,
           const Tensor& sine);

// One axis of a grid of tokens: token i of `count` along it lies at first + i step, and rotates
// `rotary_size` elements of a head, rotary_size / 2 pairs, by position / base^(2 pair /
// rotary_size).
struct AxisPositions {
  std::int64_t count = 1;
  std::int64_t rotary_size = 0;  // even, 0 allowed
  double first = 0;
  double step = 1;
  double base = 10000;
};

// Angles [leading + product of the counts, sum of the rotary sizes / 2] for Rotate: the axes'
// pairs side by side, tokens in row-major order (the last axis fastest), and before them `leading`
// tokens that lie at 0 on every axis. A plain sequence is one axis; FLUX's text before an image of
// H x W tokens is {{1, 16}, {H, 56}, {W, 56}} with the text's length leading.
RotaryAngles AnglesOfAxes(Context& context, const std::vector<AxisPositions>& axes,
                          std::int64_t leading = 0);

// Returns the same angles as a table of fixed position features [leading + product of the counts,
// sum of the rotary sizes] in the element type of activations: for each axis of `order`, its sines
// and then its cosines. A ViT's two-dimensional table of D features (He et al., arXiv:2111.06377)
// is axes {{H, D / 2}, {W, D / 2}} in the order {1, 0}: columns first.
Var SinusoidsOfAxes(Context& context, const std::vector<AxisPositions>& axes,
                    const std::vector<std::size_t>& order, std::int64_t leading = 0);

// Rotates the neighbouring pairs (x_2i, x_2i+1) of x [N, T, H, d] by angles whose cosines and sines
// [T, H, d / 2] are variables: (x_2i c - x_2i+1 s, x_2i s + x_2i+1 c). Keeps all three.
// The tables are best in the exact type, as SineCosine gives of exact angles: bf16 ones are
// widened.
Var RotateBy(Context& context, const Var& x, const Var& cosine, const Var& sine);

}  // namespace frugal

#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// The sines and behind them the cosines of angles [..., K], or the reverse: [..., 2K]. Keeps its
// result.
Var SineCosine(Context& context, const Var& angles, bool cosine_first);

// Sinusoids of geometrically falling frequencies (Vaswani et al., arXiv:1706.03762, section 3.5; Ho
// et al., arXiv:2006.11239, appendix B): of K = features / 2 angles
//   scale t max_period^(-k / (K - frequency_shift)),  k = 0 ... K - 1.
// As diffusers' get_timestep_embedding(t, features) by default; DiT's timestep_embedding(t,
// features) is {.cosine_first = true, .frequency_shift = 0}.
struct TimestepOptions {
  std::int64_t features = 0;
  bool cosine_first = false;
  double frequency_shift = 1;
  double max_period = 10000;
  double scale = 1;
};

// t [...], of any shape -> [..., features] in the element type of activations; the last of an odd
// number of features is 0. Computed in the exact type: bf16 does not tell time 999 from 1000.
// Differentiable towards t. ShapeError where K - frequency_shift is not positive.
Var TimestepFeatures(Context& context, const Var& t, const TimestepOptions& options);

}  // namespace frugal

#pragma once

#include "layers/dense.h"

namespace frugal {

// The last step of a modulated transformer: LayerNorm(x) (1 + scale) + shift, projected. x [N, ...,
// features] and c [N, features], behind its SiLU: [N, ..., outputs]. Parameters: norm_out.linear
// [2 features, features], first the scale's half, and proj_out [outputs, features], with biases.
class ModulatedOutput final : public Module {
 public:
  ModulatedOutput(std::int64_t features, std::int64_t outputs);

  Var operator()(Context& context, const Var& x, const Var& c);

 private:
  Dense modulation_, projection_;
};

}  // namespace frugal

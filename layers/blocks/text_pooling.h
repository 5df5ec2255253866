#pragma once

#include "layers/dense.h"

namespace frugal {

// A text [N, S, features] in one vector [N, outputs]: its mean attends to itself and to the tokens
// (github.com/genmoai/mochi, AttentionPool). Parameters: to_q [D, D], to_kv [2 D, D], keys first,
// to_out [outputs, D], and biases.
class TextPooling final : public Module {
 public:
  // Throws ConfigError where the heads do not divide the features.
  TextPooling(std::int64_t features, std::int64_t outputs, std::int64_t heads);

  // mask [N, S]: 0 for padding, which is left out; empty: all tokens count.
  Var operator()(Context& context, const Var& text, const Tensor& mask);

 private:
  std::int64_t features_, heads_;
  Dense query_, keys_and_values_, output_;
};

}  // namespace frugal

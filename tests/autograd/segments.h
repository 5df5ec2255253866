#pragma once

#include <string>
#include <vector>

#include "sdk/autograd/checkpoint.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/norm/norm.h"
#include "tests/support/passes.h"

namespace frugal::testing {

// A few parameters and the functions over [M, 6] that the tests of checkpointing compose.
class SegmentParts : public Module {
 public:
  SegmentParts() {
    for (int i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i);
      weights_.push_back(&AddParameter("weight" + number, {6, 6}, Initializer::HeNormal()));
      biases_.push_back(&AddParameter("bias" + number, {6}, Initializer::Uniform(-1, 1)));
    }
    norm_.parameters = {&AddParameter("gamma", {6}, Initializer::Uniform(0.5, 1.5)),
                        &AddParameter("beta", {6}, Initializer::Uniform(-1, 1))};
    norm_.running_mean = &AddBuffer("running_mean", {6}, Initializer::Zero());
    norm_.running_variance = &AddBuffer("running_var", {6}, Initializer::Constant(1));
    AssignPaths("parts");
    NumberParameters(*this);
  }

  Var Dense(Context& context, const Var& x, std::size_t i, Activation activation) const {
    return Linear(context, x, *weights_[i], biases_[i], {.activation = activation});
  }
  Var Norm(Context& context, const Var& x) const { return BatchNorm(context, x, norm_); }
  const Parameter& running_mean() const { return *norm_.running_mean; }

 private:
  std::vector<Parameter*> weights_;
  std::vector<Parameter*> biases_;
  BatchNormState norm_;
};

// Runs `segment` as it is, or checkpointed.
inline Var Maybe(bool checkpointed, Context& context, const Var& x,
                 const SegmentFunction& segment) {
  return checkpointed ? Checkpoint(context, x, segment) : segment(context, x);
}

}  // namespace frugal::testing

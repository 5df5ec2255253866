#pragma once

#include <cmath>

#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

// Products of both backends, at the same sizes and of the same numbers.
namespace frugal::testing {

struct Sizes {
  std::int64_t rows, inputs, outputs;
};

inline constexpr Activation kKinds[] = {Activation::kIdentity,  Activation::kRelu,
                                        Activation::kLeakyRelu, Activation::kElu,
                                        Activation::kTanh,      Activation::kSigmoid};

inline LinearWeight RandomWeight(Dice& dice, const Sizes& s, WeightLayout layout) {
  const bool out_in = layout == WeightLayout::kOutIn;
  const Shape shape = out_in ? Shape{s.outputs, s.inputs} : Shape{s.inputs, s.outputs};
  return {RandomTensor(shape, dice.Seed()), layout};
}

inline Tensor Forward(Backend& backend, const Tensor& x, const LinearWeight& weight,
                      const Tensor& bias, const Tensor& residual, LinearEpilogue epilogue) {
  Tensor y = Full({x.shape()[0], weight.outputs()}, NAN);
  const Scratch scratch(backend.product().LinearForwardScratch(x, weight));
  backend.product().LinearForward(x, weight, bias, residual, y, epilogue, scratch.get());
  CHECK(scratch.GuardIsIntact());
  return y;
}

inline void CompareForward(Backends& b, Dice& dice, const Sizes& s, WeightLayout layout) {
  const Tensor x = RandomTensor({s.rows, s.inputs}, dice.Seed());
  const LinearWeight weight = RandomWeight(dice, s, layout);
  const Tensor bias = dice.Flip() ? RandomTensor({s.outputs}, dice.Seed()) : Tensor();
  const Tensor residual = dice.Flip() ? RandomTensor({s.rows, s.outputs}, dice.Seed()) : Tensor();
  const Activation kind = kKinds[dice.Between(0, 5)];
  const LinearEpilogue epilogue{kind, DefaultParameter(kind)};
  REQUIRE(b.fast->product().FusesActivation(kind));
  CAPTURE(s.rows, s.inputs, s.outputs, static_cast<int>(layout), NameOf(kind), bool(bias),
          bool(residual));
  const Tensor expected = Forward(*b.reference, x, weight, bias, residual, epilogue);
  CHECK(RelativeError(Forward(*b.fast, x, weight, bias, residual, epilogue), expected) < kForward);
}

struct Gradients {
  Tensor dx, dweight, dbias;
};

inline Gradients Backward(Backend& backend, const Tensor& dy, const Tensor& x,
                          const LinearWeight& weight, bool accumulate) {
  const double before = accumulate ? 0.5 : NAN;
  Gradients g{Full(x.shape(), before), Full(weight.tensor.shape(), before),
              Full({weight.outputs()}, before)};
  auto& product = backend.product();
  const Scratch data(product.LinearBackwardDataScratch(dy, weight));
  product.LinearBackwardData(dy, weight, g.dx, accumulate, data.get());
  const Scratch weights(product.LinearBackwardWeightScratch(dy, x, accumulate));
  product.LinearBackwardWeight(dy, x, {g.dweight, weight.layout}, g.dbias, accumulate,
                               weights.get());
  CHECK(data.GuardIsIntact());
  CHECK(weights.GuardIsIntact());
  return g;
}

inline void CompareGradients(Backends& b, Dice& dice, const Sizes& s, WeightLayout layout) {
  const Tensor x = RandomTensor({s.rows, s.inputs}, dice.Seed());
  const LinearWeight weight = RandomWeight(dice, s, layout);
  const Tensor dy = RandomTensor({s.rows, s.outputs}, dice.Seed());
  for (const bool accumulate : {false, true}) {
    CAPTURE(s.rows, s.inputs, s.outputs, static_cast<int>(layout), accumulate);
    const Gradients expected = Backward(*b.reference, dy, x, weight, accumulate);
    const Gradients actual = Backward(*b.fast, dy, x, weight, accumulate);
    CHECK(RelativeError(actual.dx, expected.dx) < kGradient);
    CHECK(RelativeError(actual.dweight, expected.dweight) < kGradient);
    CHECK(RelativeError(actual.dbias, expected.dbias) < kGradient);
  }
}

inline constexpr WeightLayout kLayouts[] = {WeightLayout::kOutIn, WeightLayout::kInOut};

}  // namespace frugal::testing

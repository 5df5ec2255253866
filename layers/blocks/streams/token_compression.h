#pragma once

#include "layers/convolution.h"
#include "layers/dense.h"

// By these layers, Nitro-E's middle blocks come to work on fewer tokens
// (github.com/AMD-AGI/Nitro-E).
namespace frugal {

// Two products with a GELU between them at each place of a grid. Parameters: 1 and 3, convolutions
// [., ., 1, 1] with their biases.
class PointwisePair final : public Module {
 public:
  PointwisePair(std::int64_t inputs, std::int64_t outputs);

  Var operator()(Context& context, const Var& grid);

 private:
  Conv2d first_, second_;
};

// {x [N, h, w, D], ...} -> {tokens [N, h w / 4 + h w / 16, D], ..., x}: squares of 2 x 2 tokens,
// and of 4 x 4, in one token each. Parameters: body2x, body4x.
class TokenCompressor final : public TupleLayer {
 public:
  explicit TokenCompressor(std::int64_t features);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return "tokens of 2x2 and of 4x4 in one"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  PointwisePair body2_, body4_;
};

// The way back, {tokens, ..., x} -> {grid [N, h, w, D], ...}: both kinds of tokens spread over
// their squares, put beside the x of before and merged; then each gets its position's sinusoids
// again. Parameters: body2x, body4x, mergers.0 [D, 3 D], mergers.2 [D, D].
class TokenReconstructor final : public TupleLayer {
 public:
  // Positions begin at `first` and lie `step` apart.
  TokenReconstructor(std::int64_t features, double first, double step);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return "compressed tokens spread and merged"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;
  // Tokens of `factor` x `factor` squares on the grid of x.
  Var Spread(Context& context, PointwisePair& body, const Var& tokens, const Shape& x,
             std::int64_t factor);
  Var Positions(Context& context, const Shape& x) const;

  double first_position_, step_;
  PointwisePair body2_, body4_;
  Dense first_, second_;
};

}  // namespace frugal

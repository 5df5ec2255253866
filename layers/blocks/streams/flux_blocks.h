#pragma once

#include "layers/blocks/streams/joint_attention.h"

namespace frugal {

// {x [N, T, D], context [N, S, D], c, cosine [T, d / 2], sine, ...} -> {context and x [N, S + T,
// D], c, their cosine and sine [S + T, d / 2], x's cosine}, whose rows say how many tokens are the
// image's.
class StreamJoin final : public TupleLayer {
 public:
  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "both streams in one, text first"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;
};

// A block of one stream: attention and a product beside each other behind one modulated norm, and
// one projection of both (github.com/black-forest-labs/flux; Dehghani et al., arXiv:2302.05442,
// section 2.1). {x [N, T, D], c [N, D] behind its SiLU, cosine [T, d / 2], sine, ...} -> the same.
// Parameters: norm.linear [3 D, D], attn, proj_mlp [4 D, D], proj_out [D, 5 D].
class SingleStreamBlock final : public TupleLayer {
 public:
  SingleStreamBlock(std::int64_t features, const StreamHeads& heads);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override;

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  StreamHeads heads_;
  Dense modulation_;
  JointAttention attention_;
  Dense up_, output_;
};

}  // namespace frugal

#pragma once

#include <memory>

#include "layers/blocks/streams/joint_attention.h"
#include "layers/blocks/streams/stream_feed_forward.h"

namespace frugal {

struct JointBlockOptions {
  std::int64_t features = 0;
  StreamHeads heads{};
  bool ends_context = false;      // the last one: the context is read, not handed on
  bool second_attention = false;  // of x over itself, beside the joint one
  bool rotary = false;
};

// A block of two streams that attend to each other (Esser et al., arXiv:2403.03206, figure 2b).
// {x [N, ..., D], context [N, S, D], c [N, D] behind its SiLU, ...} -> the same, without the
// context where it ends. With `rotary`, the fourth and fifth are cosines and sines [T, d / 2] of
// x's positions, which rotate neighbouring pairs; the context's are at 0. Parameters: norm1.linear
// [6 D or, with a second attention, 9 D, D], norm1_context.linear [6 D or, where the context ends,
// 2 D, D], attn, attn2, ff and ff_context.
class JointBlock final : public TupleLayer {
 public:
  explicit JointBlock(const JointBlockOptions& options);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override;

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;
  Var NormedContext(Context& context, const Var& text, const std::vector<Var>& m) const;
  RotateHeads RotationOf(const VarTuple& vars) const;

  JointBlockOptions options_;
  Dense modulation_, context_modulation_;
  JointAttention attention_;
  std::unique_ptr<JointAttention> second_attention_;
  StreamFeedForward feed_forward_;
  std::unique_ptr<StreamFeedForward> context_feed_forward_;
};

// Rotates heads [N, T, heads * head_size] by angles [T, head_size / 2] of neighbouring pairs.
RotateHeads RotationBy(const StreamHeads& heads, const Tensor& cosine, const Tensor& sine);

}  // namespace frugal

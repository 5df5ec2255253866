#pragma once

#include <memory>

#include "layers/blocks/streams/joint_attention.h"
#include "layers/blocks/streams/stream_feed_forward.h"

namespace frugal {

struct AsymmetricBlockOptions {
  std::int64_t features = 0;
  std::int64_t context_features = 0;
  StreamHeads heads{};
  FeedForwardKind feed_forward = FeedForwardKind::kSwiglu;
  bool ends_context = false;  // the last one: the context is read, not handed on
};

// A block of two streams of different width that attend to each other; norms are RMS norms scaled
// by the condition, before a part and behind it, and gates are hyperbolic tangents
// (github.com/genmoai/mochi). {x [N, ..., D], context [N, S, E], c [N, D] behind its SiLU, cosine
// [T, H, d / 2], sine, mask [N, 1, 1, T + S]} -> the same, without the context where it ends.
// Parameters: norm1.linear [4 D, D], norm1_context.linear [4 E, D] or, where the context ends,
// norm1_context.linear_1 [E, D], attn1, ff, ff_context.
class AsymmetricBlock final : public TupleLayer {
 public:
  explicit AsymmetricBlock(const AsymmetricBlockOptions& options);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override;

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  AsymmetricBlockOptions options_;
  Dense modulation_, context_modulation_;
  JointAttention attention_;
  StreamFeedForward feed_forward_;
  std::unique_ptr<StreamFeedForward> context_feed_forward_;
};

}  // namespace frugal

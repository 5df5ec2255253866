#pragma once

#include "layers/dense.h"

namespace frugal {

// The kinds are named as public configurations spell them: one function, or a function times a
// second half.
enum class FeedForwardKind : std::uint8_t { kGelu, kGeluTanh, kSiluLinear, kGeglu, kSwiglu };

struct StreamFeedForwardOptions {
  std::int64_t inner = 0;
  FeedForwardKind kind = FeedForwardKind::kGeluTanh;
  bool bias = true;
};

// Two products with a function between them: [..., D] -> [..., D]. Parameters: net.0.proj [inner,
// D], of the gated kinds [2 inner, D] (first what is gated, then the gate; arXiv:2002.05202), and
// net.2 [D, inner], each with its bias.
class StreamFeedForward final : public Layer {
 public:
  StreamFeedForward(std::int64_t features, const StreamFeedForwardOptions& options);

  LayerKind kind() const override { return LayerKind::kDense; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  StreamFeedForwardOptions options_;
  Dense up_, down_;
};

// Holds what modulates one part of a block, each [N, D].
struct StreamModulation {
  Var shift, scale, gate;
};

// x + gate part(LayerNorm(x) (1 + scale) + shift), x [N, ..., D] (Peebles & Xie, arXiv:2212.09748,
// section 3.2).
Var AddFeedForward(Context& context, StreamFeedForward& part, const StreamModulation& modulation,
                   const Var& x);

}  // namespace frugal

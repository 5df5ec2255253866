#pragma once

#include <optional>

#include "layers/attention.h"
#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal {

// A layer's result with `around` added, inside its last product where it ends in one.
Var RunAndAdd(Context& context, Layer& layer, const Var& input, const Var& around);

// A feed-forward part gated by GELU (Shazeer, arXiv:2002.05202), D -> 4 D -> D. Parameters:
// net.0.proj, whose second half is what passes through the GELU, and net.2.
class GegluFeedForward final : public Module {
 public:
  explicit GegluFeedForward(std::int64_t features);

  // x [..., D] -> around + f(x)
  Var operator()(Context& context, const Var& x, const Var& around);

 private:
  Dense in_;
  Dense out_;
};

// Tells what the second attention of a transformer block makes of the context [N, S, E].
struct ContextUse {
  // There is none: the norm before it is added in its place, as github.com/Zheng-Chong/CatVTON does
  // (Chong et al., arXiv:2407.15886).
  bool skipped = false;
  // The last so many of S tell of an image, and have keys and values of their own.
  std::int64_t image_tokens = 0;
};

struct TransformerBlockOptions {
  std::int64_t features = 0;
  std::int64_t heads = 1;
  std::int64_t context_features = 0;  // of what is attended to beside itself
  bool only_context = false;          // the first attention is over the context, too
  ContextUse context{};
};

// Attention over itself, over a context and a feed-forward part, each behind a norm and added
// (Rombach et al., arXiv:2112.10752, appendix E.2.1). In three steps, so that a caller may look at
// x [N, T, D] as other sequences in between. Parameters: norm1, attn1, norm2, attn2, norm3, ff; of
// image tokens attn2.processor.to_k_ip.0 and to_v_ip.0.
class TransformerBlock final : public Module {
 public:
  explicit TransformerBlock(const TransformerBlockOptions& options);

  // Attends over x itself, or over memory [N, S, context_features] with only_context.
  Var SelfAttend(Context& context, const Var& x, const Var& memory);
  Var CrossAttend(Context& context, const Var& x, const Var& memory);
  Var FeedForward(Context& context, const Var& x);
  // Runs all three.
  Var operator()(Context& context, const Var& x, const Var& memory);
  std::string Describe() const { return "transformer block, " + self_.Describe(); }

 private:
  Var AttendToContext(Context& context, const Var& normed, const Var& memory);

  bool only_context_;
  std::int64_t image_tokens_;
  LayerNormLayer norm1_;
  AttentionLayer self_;
  LayerNormLayer norm2_;
  std::optional<AttentionLayer> cross_;  // unless it is skipped
  LayerNormLayer norm3_;
  GegluFeedForward feed_forward_;
};

}  // namespace frugal

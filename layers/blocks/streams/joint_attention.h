#pragma once

#include <functional>
#include <memory>

#include "layers/blocks/streams/stream_projection.h"

namespace frugal {

struct JointAttentionOptions {
  std::int64_t features = 0;
  StreamHeads heads{};
  bool bias = true;
  std::int64_t context_features = 0;  // 0: one stream only
  bool context_bias = true;           // of its queries, keys and values
  bool ends_context = false;          // the context's output is not wanted
  bool projects_output = true;
};

// Rotates the queries, and the keys, of the main stream by their positions.
using RotateHeads = std::function<Var(Context&, const Var&)>;

struct Streams {
  Var x, context;
};

// Attention over two streams of tokens side by side, each with projections of its own (Esser et
// al., arXiv:2403.03206, section 4), or over one. Parameters: those of StreamProjection (of the
// context with "add_q_proj", ..., "norm_added_q", ...), to_out.0 [features, heads * head_size],
// to_add_out [context_features, heads * head_size], each with its bias.
class JointAttention final : public Module {
 public:
  explicit JointAttention(const JointAttentionOptions& options);

  // x [N, ..., features] and context [N, S, context_features], or none; the results have their
  // shapes, the context's none where it ends. The mask is added to the scores: [1 or N, 1, 1 or
  // T + S, T + S], x's tokens first.
  Streams operator()(Context& context, const Streams& in, const RotateHeads& rotate = {},
                     const Tensor& mask = {});

 private:
  QueriesKeysValues Projected(Context& context, const Streams& in, const RotateHeads& rotate);
  // Tokens [N, T, width] -> x's shape.
  Var Output(Context& context, const Var& tokens, const Shape& x);

  JointAttentionOptions options_;
  StreamProjection x_projection_;
  std::unique_ptr<StreamProjection> context_projection_;
  std::unique_ptr<Dense> x_output_, context_output_;
};

}  // namespace frugal

#pragma once

#include <optional>

#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal {

struct AddedKeyAttentionOptions {
  std::int64_t channels = 0;
  std::int64_t width = 0;  // of queries, keys and values: all heads
  std::int64_t head_size = 0;
  std::int64_t text_features = 0;
  bool over_pixels = true;  // whether pixels attend to each other too
  std::int64_t groups = 32;
  double eps = 1e-5;
};

// Attention of an image's pixels to each other and to a text at once: the text's keys and values
// join those of the pixels, so that one softmax weighs both (Saharia et al., arXiv:2205.11487,
// section 2.5 and appendix D.3.1), the text behind a layer norm of each such layer's own. x + its
// output. Parameters: group_norm, norm_cross, to_q [D, C], to_kv [2 D, C], keys first (where pixels
// attend to each other), add_kv_proj [2 D, text_features], to_out.0 [C, D], and biases, of D =
// width and C = channels.
class AddedKeyAttention final : public Module {
 public:
  explicit AddedKeyAttention(const AddedKeyAttentionOptions& options);

  // x [N, H, W, channels], text [N, S, text_features] -> x's shape.
  Var operator()(Context& context, const Var& x, const Var& text);
  std::string Describe() const;

 private:
  // [N, H W + S, 2 width], or [N, S, 2 width]: keys, then values.
  Var KeysAndValues(Context& context, const Var& pixels, const Var& text);

  AddedKeyAttentionOptions options_;
  GroupNormLayer norm_;
  LayerNormLayer text_norm_;
  Dense query_;
  std::optional<Dense> own_;
  Dense added_, output_;
};

}  // namespace frugal

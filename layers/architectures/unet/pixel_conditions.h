#pragma once

#include <optional>

#include "layers/blocks/text_pooling.h"
#include "layers/blocks/timestep_embedding.h"
#include "layers/norms.h"

namespace frugal::architectures {

struct PixelConditionsOptions {
  std::int64_t sinusoids = 0;
  std::int64_t features = 0;  // of the sum
  std::int64_t text_inputs = 0;
  std::int64_t text_features = 0;
  std::int64_t text_heads = 1;
  bool has_noise_level = false;
  double eps = 1e-5;
};

// Embeds what U-Nets over pixels are conditioned on (Saharia et al., arXiv:2205.11487, sections 2.4
// and 2.5): the time, a text pooled by attention between layer norms, and the level of the noise on
// the image that is to be enlarged, embedded as another time. Parameters: encoder_hid_proj,
// time_embedding, noise_embedding, add_embedding.norm1, .pool, .norm2.
class PixelConditions final : public Module {
 public:
  explicit PixelConditions(const PixelConditionsOptions& options);

  struct Embedded {
    Var c{};     // [N, features], the sum behind a SiLU
    Var text{};  // [N, S, text_features]
  };
  // t [N], text [N, S, text_inputs], noise_level [N] or none.
  Embedded operator()(Context& context, const Var& t, const Var& text, const Var& noise_level);

 private:
  Dense text_;
  TimestepEmbedding times_;
  std::optional<TimestepEmbedding> levels_;
  LayerNormLayer norm_;
  TextPooling pool_;
  LayerNormLayer pooled_norm_;
};

}  // namespace frugal::architectures

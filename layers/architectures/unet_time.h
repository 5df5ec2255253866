#pragma once

#include <optional>

#include "layers/dense.h"
#include "layers/timestep_embedding.h"

namespace frugal::architectures {

struct UNetTimeOptions {
  std::int64_t sinusoids = 0;
  std::int64_t features = 0;
  bool cosine_first = true;
  double frequency_shift = 0;
  std::int64_t classes = 0;       // 0: no class embedding
  std::int64_t added_inputs = 0;  // of the added embedding; 0: none
  std::int64_t added_sinusoids = 0;
};

// What a U-Net is conditioned on besides its context; the added embedding is that of SDXL (Podell
// et al., arXiv:2307.01952, section 2.2): numbers such as the image's original size, by sinusoids,
// behind a text's features. Parameters: time_embedding, class_embedding, add_embedding.
class UNetTime final : public Module {
 public:
  explicit UNetTime(const UNetTimeOptions& options);

  struct Conditions {
    Var t{};            // [N]
    Var labels{};       // [N], where there are classes
    Var text_embeds{};  // [N, E], or none
    Var time_ids{};     // [N, K]: E + K added_sinusoids = added_inputs
  };
  // The SiLU of the sum of what is embedded, [N, features]: all that layers make of it starts so.
  Var operator()(Context& context, const Conditions& conditions);

 private:
  Var Added(Context& context, const Conditions& conditions);

  UNetTimeOptions options_;
  TimestepEmbedding times_;
  const Parameter* classes_ = nullptr;
  std::optional<Dense> added_first_, added_second_;
};

}  // namespace frugal::architectures

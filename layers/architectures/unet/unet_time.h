#pragma once

#include <optional>

#include "layers/blocks/timestep_embedding.h"
#include "layers/dense.h"

namespace frugal::architectures {

struct UNetTimeOptions {
  std::int64_t sinusoids = 0;
  std::int64_t features = 0;
  bool cosine_first = true;
  double frequency_shift = 0;
  std::int64_t classes = 0;       // 0: no class embedding
  std::int64_t added_inputs = 0;  // of the added embedding; 0: none
  std::int64_t added_sinusoids = 0;
  std::int64_t control_types = 0;  // of a union ControlNet, added_sinusoids of each; 0: none
};

// A product, SiLU, a product: linear_1, linear_2.
class TwoProducts final : public Module {
 public:
  TwoProducts(std::int64_t inputs, std::int64_t features);
  Var operator()(Context& context, const Var& x) { return second_(context, first_(context, x)); }

 private:
  Dense first_, second_;
};

// Embeds what a U-Net is conditioned on besides its context; the added embedding is that of SDXL
// (Podell et al., arXiv:2307.01952, section 2.2): numbers such as the image's original size, by
// sinusoids, behind a text's features. Parameters: time_embedding, class_embedding, add_embedding,
// control_add_embedding.
class UNetTime final : public Module {
 public:
  explicit UNetTime(const UNetTimeOptions& options);

  struct Conditions {
    Var t{};             // [N]
    Var labels{};        // [N], where there are classes
    Var text_embeds{};   // [N, E], or none
    Var time_ids{};      // [N, K]: E + K added_sinusoids = added_inputs
    Var control_type{};  // [N, control_types]
  };
  // The SiLU of the sum of what is embedded, [N, features]: all that layers make of it starts so.
  Var operator()(Context& context, const Conditions& conditions);

 private:
  Var Added(Context& context, const Conditions& conditions);
  // [N, K] -> [N, K added_sinusoids]
  Var Sinusoids(Context& context, const Var& numbers) const;

  UNetTimeOptions options_;
  TimestepEmbedding times_;
  const Parameter* classes_ = nullptr;
  std::optional<TwoProducts> added_, control_;
};

}  // namespace frugal::architectures

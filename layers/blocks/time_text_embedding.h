#pragma once

#include <memory>

#include "layers/blocks/timestep_embedding.h"

namespace frugal {

struct TimeTextEmbeddingOptions {
  std::int64_t features = 0;
  std::int64_t pooled_features = 0;
  double time_scale = 1;  // of times and guidance
  bool guidance = false;
};

// Makes what modulates every block of a text-to-image transformer: the time, a pooled embedding of
// the text and, of a model distilled from guided ones, the guidance's weight, embedded and summed
// (Esser et al., arXiv:2403.03206, section 4). Parameters: timestep_embedder, guidance_embedder and
// text_embedder, each with linear_1 and linear_2.
class TimeTextEmbedding final : public Module {
 public:
  explicit TimeTextEmbedding(const TimeTextEmbeddingOptions& options);

  // t [N], pooled [N, pooled_features], guidance [N] where there is one: [N, features].
  Var operator()(Context& context, const Var& t, const Var& pooled, const Var& guidance = {});

 private:
  TimestepEmbedding times_;
  std::unique_ptr<TimestepEmbedding> guidance_;
  Dense text_first_, text_second_;
};

}  // namespace frugal

#pragma once

#include <string>

#include "layers/dense.h"
#include "sdk/ops/sinusoid.h"

namespace frugal {

struct TimestepEmbeddingOptions {
  std::int64_t features = 0;  // that come out
  TimestepOptions sinusoid{.features = 256};
  std::string first = "linear_1";  // the two products in parameter paths
  std::string second = "linear_2";
};

// Times [N] -> [N, features]: sinusoids through a product, SiLU and another product (Ho et al.,
// arXiv:2006.11239, appendix B). Parameters: first.weight [features, sinusoids], second.weight
// [features, features], and a bias of each.
class TimestepEmbedding final : public Layer {
 public:
  explicit TimestepEmbedding(const TimestepEmbeddingOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& t) override;

  TimestepOptions sinusoid_;
  Dense first_;
  Dense second_;
};

}  // namespace frugal

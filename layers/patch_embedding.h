#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/spatial/convolution.h"

namespace frugal {

struct PatchEmbeddingOptions {
  std::int64_t image_height = 0;
  std::int64_t image_width = 0;
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t features = 0;
  double init_std = 0.02;
};

// Images [N, H, W, channels] cut into patches, each projected, with a class token in front and a
// learned position added: [N, 1 + H W / patch^2, features] (Dosovitskiy et al., arXiv:2010.11929).
// Parameters: cls_token [1, 1, features], position_embeddings [1, 1 + patches, features],
// patch_embeddings.projection.weight [features, channels, patch, patch] and .bias [features].
class PatchEmbedding final : public Layer {
 public:
  explicit PatchEmbedding(const PatchEmbeddingOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  PatchEmbeddingOptions options_;
  Parameter& class_token_;
  Parameter& positions_;
  Parameter& weight_;
  Parameter& bias_;
};

}  // namespace frugal

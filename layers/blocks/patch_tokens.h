#pragma once

#include "sdk/module/layer.h"

namespace frugal {

struct PatchTokensOptions {
  std::int64_t patch = 2;
  std::int64_t channels = 4;
  std::int64_t features = 0;
  bool bias = true;
};

// Images [N, H, W, channels] cut into patches, each projected: [N, H W / patch^2, features], row by
// row. Parameters: weight [features, channels, patch, patch], bias [features]. Throws ShapeError
// where the patches do not divide the image.
class PatchTokens final : public Layer {
 public:
  explicit PatchTokens(const PatchTokensOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  PatchTokensOptions options_;
  Parameter& weight_;
  Parameter* bias_;
};

}  // namespace frugal

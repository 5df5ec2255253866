#pragma once

#include "sdk/module/layer.h"

namespace frugal {

struct LayerScaleOptions {
  double start = 1e-4;  // of every weight
};

// Multiplies each feature of the last axis by a weight that starts small, at the end of a residual
// block: a deep network begins near the identity (Touvron et al., arXiv:2103.17239, section 2).
// Parameters: weight [D].
class LayerScale final : public Layer {
 public:
  LayerScale(std::int64_t features, const LayerScaleOptions& options);

  LayerKind kind() const override { return LayerKind::kNorm; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Parameter& weight_;
};

}  // namespace frugal

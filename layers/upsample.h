#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/spatial/upsample.h"

namespace frugal {

struct UpsampleOptions {
  std::int64_t factor = 2;
  Upsampling mode = Upsampling::kNearest;
};

// [N, H, W, C] -> [N, factor H, factor W, C], as PyTorch with align_corners = false.
class UpsampleLayer final : public Layer {
 public:
  // Throws ConfigError where the factor is less than 1.
  explicit UpsampleLayer(const UpsampleOptions& options);

  LayerKind kind() const override { return LayerKind::kPooling; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  UpsampleOptions options_;
};

}  // namespace frugal

#pragma once

#include "layers/window_options.h"
#include "sdk/module/layer.h"

namespace frugal {

struct Pool2dOptions {
  PerAxis kernel{};
  PerAxis stride{};  // empty: the kernel
  PerAxis padding = {0};
  bool count_padding = true;  // average pooling: padded zeros count in the mean
};

// Options of one kind each, which the types of layers are told apart by.
struct MaxPool2dOptions : Pool2dOptions {};
struct AveragePool2dOptions : Pool2dOptions {};

enum class PoolKind : std::uint8_t { kMax, kAverage };

// [N, H, W, C] -> [N, H', W', C]
class Pool2d final : public Layer {
 public:
  Pool2d(PoolKind pool_kind, const Pool2dOptions& options);

  LayerKind kind() const override { return LayerKind::kPooling; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  PoolKind pool_kind_;
  bool count_padding_;
  WindowOptions window_;
};

struct AdaptivePool2dOptions {
  PerAxis output = {1};  // height and width of the result
};

// Averages to a fixed height and width: [N, H, W, C] -> [N, h, w, C]
class AdaptiveAveragePool2d final : public Layer {
 public:
  explicit AdaptiveAveragePool2d(const AdaptivePool2dOptions& options);

  LayerKind kind() const override { return LayerKind::kPooling; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Spatial output_;
};

}  // namespace frugal

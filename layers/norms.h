#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/norm/norm.h"

namespace frugal {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  // weight of the newest batch in the running statistics
  bool affine = true;
  bool relu = false;  // a ReLU in the same pass
};

// Normalizes the channels of the last axis. Parameters: weight, bias [C]; buffers running_mean,
// running_var.
class BatchNormLayer final : public Layer {
 public:
  BatchNormLayer(std::int64_t channels, const BatchNormOptions& options);

  LayerKind kind() const override { return LayerKind::kNorm; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  BatchNormState state_;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

// Normalizes over the last axis. Parameters: weight, bias [D].
class LayerNormLayer final : public Layer {
 public:
  LayerNormLayer(std::int64_t features, const LayerNormOptions& options);

  LayerKind kind() const override { return LayerKind::kNorm; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  std::int64_t features_;
  double epsilon_;
  NormParameters parameters_;
};

struct RmsNormOptions {
  double eps = 1e-6;
  bool affine = true;
};

// Normalizes over the last axis, without a mean and a shift. Parameters: weight [D].
class RmsNormLayer final : public Layer {
 public:
  RmsNormLayer(std::int64_t features, const RmsNormOptions& options);

  LayerKind kind() const override { return LayerKind::kNorm; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  std::int64_t features_;
  double epsilon_;
  const Parameter* weight_ = nullptr;
};

struct GroupNormOptions {
  std::int64_t groups = 32;
  double eps = 1e-5;
  bool affine = true;
};

// Normalizes over groups of channels. Parameters: weight, bias [C].
class GroupNormLayer final : public Layer {
 public:
  // Throws ConfigError where the groups do not divide the channels.
  GroupNormLayer(std::int64_t channels, const GroupNormOptions& options);

  LayerKind kind() const override { return LayerKind::kNorm; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  std::int64_t channels_;
  GroupNormOptions options_;
  NormParameters parameters_;
};

}  // namespace frugal

#pragma once

#include "sdk/module/layer.h"

namespace frugal {

// Layers without parameters that lead into sequences [N, T, D] and out of them.

struct ToSequenceOptions {};

// [N, spatial..., C] -> [N, positions, C], positions in row-major order.
class ToSequenceLayer final : public Layer {
 public:
  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "to_sequence"; }

 private:
  Var Forward(Context& context, const Var& input) override;
};

enum class SequencePooling : std::uint8_t { kMean, kFirst, kLast };

struct SequencePoolOptions {
  SequencePooling mode = SequencePooling::kMean;
};

// The mean over the positions, the first, or the last one: [N, T, D] -> [N, D].
class SequencePoolLayer final : public Layer {
 public:
  explicit SequencePoolLayer(const SequencePoolOptions& options) : mode_(options.mode) {}

  LayerKind kind() const override { return LayerKind::kPooling; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  SequencePooling mode_;
};

}  // namespace frugal

#pragma once

#include <memory>
#include <vector>

#include "sdk/module/layer.h"

namespace frugal {

// Layers [begin, end) of a Sequential that keep only their input and run again in backward.
struct CheckpointSegment {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const CheckpointSegment&) const = default;
};

// One layer after the other.
class Sequential final : public Layer {
 public:
  // A child's name is its part of the path: "0", "conv1", ...
  void Append(std::string name, std::unique_ptr<Layer> layer);
  // A layer whose parameters' paths leave its own name out (see Module::AddUnnamedChild).
  void AppendUnnamed(std::string name, std::unique_ptr<Layer> layer);

  LayerKind kind() const override { return LayerKind::kSequential; }
  std::string Describe() const override;
  bool TakesTokens() const override { return true; }  // its first layer decides

  bool WorksByPosition() const override;  // as all its layers
  // That of the last layer.
  std::optional<Projection> LastProjection() const override;

  std::size_t size() const { return layers_.size(); }
  Layer& layer(std::size_t i) const { return *layers_[i]; }

  // Disjoint and in order; replaces what was set before.
  void SetSegments(std::vector<CheckpointSegment> segments) { segments_ = std::move(segments); }
  const std::vector<CheckpointSegment>& segments() const { return segments_; }

 private:
  Var Forward(Context& context, const Var& input) override;
  Var ForwardUpToProjection(Context& context, const Var& input) override;
  // All layers, in segments; the last one without its projection where that is left to others.
  Var RunLayers(Context& context, const Var& input, bool up_to_projection);

  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<CheckpointSegment> segments_;
};

}  // namespace frugal

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sdk/module/layer.h"
#include "sdk/module/network_input.h"
#include "sdk/plan/checkpoint_segment.h"
#include "sdk/train/network_output.h"

namespace frugal {

struct SequentialOptions {};

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
  // Returns the projection of the last layer.
  std::optional<Projection> LastProjection() const override;

  // Cuts it: returns one Sequential for each number of layers, which add up to size(), with the
  // same layers under the same paths. This one is empty then. What one part shares with another
  // (tied weights) belongs to the first of them, so the parts must live equally long.
  std::vector<std::unique_ptr<Sequential>> Cut(std::span<const std::size_t> sizes);

  std::size_t size() const { return layers_.size(); }
  Layer& layer(std::size_t i) const { return *layers_[i]; }
  // Its layers with every Sequential among them dissolved into its own.
  std::vector<Layer*> Leaves() const;

  // Sets what the Sequential takes, where that is more than one variable; every run checks it.
  void SetInputs(NetworkInputs inputs) { inputs_ = std::move(inputs); }
  const NetworkInputs& inputs() const { return inputs_; }
  // Sets what it makes beside its first output: the last variables that it hands on.
  void SetOutputs(NetworkOutputs outputs) { outputs_ = std::move(outputs); }
  const NetworkOutputs& outputs() const { return outputs_; }

  // Segments of its layers: disjoint and in order; replaces what was set before.
  void SetSegments(CheckpointSegments segments);
  // Segments of its leaves, which may begin in one Sequential and end in another. Segments that the
  // Sequentials inside have of their own are then left out.
  void SetLeafSegments(CheckpointSegments segments);
  const CheckpointSegments& segments() const { return segments_; }
  bool cuts_leaves() const { return order_ != nullptr; }  // what the segments count

 private:
  struct Run;
  using Order = std::vector<Layer*>;

  Var Forward(Context& context, const Var& input) override;
  void ForwardTuple(Context& context, VarTuple& vars) override;
  Var ForwardUpToProjection(Context& context, const Var& input) override;
  // All layers, in segments; the last one without its projection where that is left to others.
  void RunLayers(Context& context, VarTuple& vars, bool up_to_projection);

  std::vector<std::unique_ptr<Layer>> layers_;
  NetworkInputs inputs_;
  NetworkOutputs outputs_;
  CheckpointSegments segments_;
  std::shared_ptr<const Order> order_;  // the leaves, where these are what is cut
};

}  // namespace frugal

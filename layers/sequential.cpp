#include "layers/sequential.h"

#include <algorithm>

#include "sdk/autograd/checkpoint.h"

namespace frugal {

void Sequential::Append(std::string name, std::unique_ptr<Layer> layer) {
  AddChild(std::move(name), *layer);
  layers_.push_back(std::move(layer));
}

void Sequential::AppendUnnamed(std::string name, std::unique_ptr<Layer> layer) {
  AddUnnamedChild(std::move(name), *layer);
  layers_.push_back(std::move(layer));
}

std::string Sequential::Describe() const {
  return "sequential of " + std::to_string(layers_.size());
}

Var Sequential::Run(Context& context, Var x, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) x = (*layers_[i])(context, x);
  return x;
}

std::optional<Projection> Sequential::LastProjection() const {
  return layers_.empty() ? std::nullopt : layers_.back()->LastProjection();
}

Var Sequential::RunSegments(Context& context, Var x, std::size_t end) {
  std::size_t next = 0;
  for (CheckpointSegment segment : segments_) {
    segment.end = std::min(segment.end, end);
    if (segment.begin >= segment.end) break;
    x = Run(context, std::move(x), next, segment.begin);
    x = Checkpoint(context, x, [this, segment](Context& ctx, const Var& start) {
      return Run(ctx, start, segment.begin, segment.end);
    });
    next = segment.end;
  }
  return Run(context, std::move(x), next, end);
}

Var Sequential::Forward(Context& context, const Var& input) {
  return RunSegments(context, input, layers_.size());
}

Var Sequential::ForwardUpToProjection(Context& context, const Var& input) {
  const std::size_t last = layers_.size() - 1;
  return layers_[last]->RunUpToProjection(context, RunSegments(context, input, last));
}

}  // namespace frugal

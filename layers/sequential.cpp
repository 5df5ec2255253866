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

bool Sequential::WorksByPosition() const {
  return std::ranges::all_of(layers_, [](const auto& layer) { return layer->WorksByPosition(); });
}

std::optional<Projection> Sequential::LastProjection() const {
  return layers_.empty() ? std::nullopt : layers_.back()->LastProjection();
}

Var Sequential::RunLayers(Context& context, const Var& input, bool up_to_projection) {
  const std::size_t end = layers_.size();
  const std::size_t whole = up_to_projection ? end - 1 : end;
  const auto run = [this, whole](Context& ctx, Var x, std::size_t begin, std::size_t stop) {
    for (std::size_t i = begin; i < stop; ++i) {
      x = i < whole ? (*layers_[i])(ctx, x) : layers_[i]->RunUpToProjection(ctx, x);
    }
    return x;
  };
  Var x = input;
  std::size_t next = 0;
  for (const CheckpointSegment segment : segments_) {
    x = run(context, std::move(x), next, segment.begin);
    x = Checkpoint(context, x, [run, segment](Context& ctx, const Var& start) {
      return run(ctx, start, segment.begin, segment.end);
    });
    next = segment.end;
  }
  return run(context, std::move(x), next, end);
}

Var Sequential::Forward(Context& context, const Var& input) {
  return RunLayers(context, input, false);
}

Var Sequential::ForwardUpToProjection(Context& context, const Var& input) {
  return RunLayers(context, input, true);
}

}  // namespace frugal

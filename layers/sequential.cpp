#include "layers/sequential.h"

#include <algorithm>

#include "sdk/autograd/checkpoint.h"

namespace frugal {

// What a pass goes through. Segments that run again in backward hold it by value, so that they do
// not depend on what is set on the Sequential since.
struct Sequential::Run {
  std::shared_ptr<const Order> layers;
  std::size_t whole = 0;  // those from here on stop before their projection

  Var Layers(Context& context, Var x, std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      Layer& layer = *(*layers)[i];
      x = i < whole ? layer(context, x) : layer.RunUpToProjection(context, x);
    }
    return x;
  }

  // Layers [begin, end) in which `segments` keep only their inputs.
  Var Segmented(Context& context, Var x, std::size_t begin, std::size_t end,
                const CheckpointSegments& segments) const {
    for (const CheckpointSegment& segment : segments) {
      x = Layers(context, std::move(x), begin, segment.begin);
      x = Checkpoint(context, x, [run = *this, segment](Context& ctx, const Var& start) {
        return run.Segmented(ctx, start, segment.begin, segment.end, segment.inner);
      });
      begin = segment.end;
    }
    return Layers(context, std::move(x), begin, end);
  }
};

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

std::vector<Layer*> Sequential::Leaves() const {
  std::vector<Layer*> leaves;
  for (const auto& layer : layers_) {
    if (layer->kind() != LayerKind::kSequential) {
      leaves.push_back(layer.get());
      continue;
    }
    const auto inner = static_cast<const Sequential&>(*layer).Leaves();
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

void Sequential::SetSegments(CheckpointSegments segments) {
  segments_ = std::move(segments);
  order_ = nullptr;
}

void Sequential::SetLeafSegments(CheckpointSegments segments) {
  segments_ = std::move(segments);
  order_ = std::make_shared<const Order>(Leaves());
}

Var Sequential::RunLayers(Context& context, const Var& input, bool up_to_projection) {
  Run run{.layers = order_};
  if (!run.layers) {
    Order own;
    for (const auto& layer : layers_) own.push_back(layer.get());
    run.layers = std::make_shared<const Order>(std::move(own));
  }
  const std::size_t end = run.layers->size();
  run.whole = up_to_projection ? end - 1 : end;
  return run.Segmented(context, input, 0, end, segments_);
}

Var Sequential::Forward(Context& context, const Var& input) {
  return RunLayers(context, input, false);
}

Var Sequential::ForwardUpToProjection(Context& context, const Var& input) {
  return RunLayers(context, input, true);
}

}  // namespace frugal

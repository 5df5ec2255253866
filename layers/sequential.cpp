#include "layers/sequential.h"

#include <algorithm>
#include <utility>

#include "sdk/autograd/checkpoint.h"

namespace frugal {

// Holds what a pass goes through. Segments that run again in backward hold this by value, so that
// they do not depend on what is set on the Sequential since.
struct Sequential::Run {
  std::shared_ptr<const Order> layers;
  std::size_t whole = 0;  // those from here on stop before their projection

  // `last` is where the segment that runs ends.
  void Layers(Context& context, VarTuple& vars, std::size_t begin, std::size_t end,
              std::size_t last) const {
    for (std::size_t i = begin; i < end; ++i) {
      const MoreFollowsScope part(context, i + 1 < last);
      Layer& layer = *(*layers)[i];
      if (i < whole) {
        layer(context, vars);
      } else {
        vars[0] = layer.RunUpToProjection(context, std::exchange(vars[0], Var()));
      }
    }
  }

  // Shared, since segments inside segments are many.
  using Segments = std::shared_ptr<const CheckpointSegments>;

  // Layers [begin, end) in which `segments` keep only their inputs.
  void Segmented(Context& context, VarTuple& vars, std::size_t begin, std::size_t end,
                 const Segments& segments) const {
    for (const CheckpointSegment& segment : *segments) {
      Layers(context, vars, begin, segment.begin, end);
      const MoreFollowsScope part(context, segment.end < end);
      const Segments inside(segments, &segment.inner);
      Checkpoint(
          context, vars,
          [run = *this, inside, first = segment.begin, last = segment.end](
              Context& ctx, VarTuple& inner) { run.Segmented(ctx, inner, first, last, inside); });
      begin = segment.end;
    }
    Layers(context, vars, begin, end, end);
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

std::vector<std::unique_ptr<Sequential>> Sequential::Cut(std::span<const std::size_t> sizes) {
  std::vector<std::unique_ptr<Sequential>> parts;
  const std::vector<Child> children = TakeChildren();
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    auto part = std::make_unique<Sequential>();
    for (const std::size_t end = at + size; at < end; ++at) {
      const Child& child = children[at];
      child.names_parameters ? part->Append(child.name, std::move(layers_[at]))
                             : part->AppendUnnamed(child.name, std::move(layers_[at]));
    }
    parts.push_back(std::move(part));
  }
  if (!parts.empty()) {
    parts.front()->inputs_ = std::move(inputs_);
    parts.back()->outputs_ = std::move(outputs_);
  }
  layers_.clear();
  SetSegments({});
  return parts;
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
    const auto* list = dynamic_cast<const Sequential*>(layer.get());
    if (list == nullptr) {
      leaves.push_back(layer.get());
      continue;
    }
    const auto inner = list->Leaves();
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

void Sequential::RunLayers(Context& context, VarTuple& vars, bool up_to_projection) {
  Run run{.layers = order_};
  if (!run.layers) {
    Order own;
    for (const auto& layer : layers_) own.push_back(layer.get());
    run.layers = std::make_shared<const Order>(std::move(own));
  }
  const std::size_t end = run.layers->size();
  run.whole = up_to_projection ? end - 1 : end;
  run.Segmented(context, vars, 0, end, std::make_shared<const CheckpointSegments>(segments_));
}

Var Sequential::Forward(Context& context, const Var& input) {
  VarTuple vars = {input};
  ForwardTuple(context, vars);
  return std::move(vars[0]);
}

void Sequential::ForwardTuple(Context& context, VarTuple& vars) {
  if (!inputs_.empty()) CheckInputs(path(), inputs_, vars);
  RunLayers(context, vars, false);
}

Var Sequential::ForwardUpToProjection(Context& context, const Var& input) {
  VarTuple vars = {input};
  RunLayers(context, vars, true);
  return std::move(vars[0]);
}

}  // namespace frugal

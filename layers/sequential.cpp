#include "layers/sequential.h"

#include "sdk/autograd/checkpoint.h"

namespace frugal {

void Sequential::Append(std::string name, std::unique_ptr<Layer> layer) {
  AddChild(std::move(name), *layer);
  layers_.push_back(std::move(layer));
}

std::string Sequential::Describe() const {
  return "sequential of " + std::to_string(layers_.size());
}

Var Sequential::Run(Context& context, Var x, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) x = (*layers_[i])(context, x);
  return x;
}

Var Sequential::Forward(Context& context, const Var& input) {
  Var x = input;
  std::size_t next = 0;
  for (const CheckpointSegment segment : segments_) {
    x = Run(context, std::move(x), next, segment.begin);
    x = Checkpoint(context, x, [this, segment](Context& ctx, const Var& start) {
      return Run(ctx, start, segment.begin, segment.end);
    });
    next = segment.end;
  }
  return Run(context, std::move(x), next, layers_.size());
}

}  // namespace frugal

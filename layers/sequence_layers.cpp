#include "layers/sequence_layers.h"

#include "layers/input_check.h"
#include "layers/types/row.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/reduce.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"

namespace frugal {

Var ToSequenceLayer::Forward(Context& context, const Var& input) {
  const Shape& shape = input.shape();
  if (shape.rank() < 3) {
    ThrowShape(context, "to_sequence takes [N, positions..., C]", shape, "leave the layer out");
  }
  std::int64_t positions = 1;
  for (std::size_t axis = 1; axis + 1 < shape.rank(); ++axis) positions *= shape[axis];
  return Reshape(context, input, {shape[0], positions, shape.back()});
}

std::string SequencePoolLayer::Describe() const {
  switch (mode_) {
    case SequencePooling::kFirst:
      return "sequence_pool, first";
    case SequencePooling::kLast:
      return "sequence_pool, last";
    case SequencePooling::kMean:
      break;
  }
  return "sequence_pool, mean";
}

Var SequencePoolLayer::Forward(Context& context, const Var& input) {
  CheckIsSequence(context, "sequence_pool", input);
  if (mode_ == SequencePooling::kMean) return Mean(context, input, {1});
  const Shape& shape = input.shape();
  const std::int64_t at = mode_ == SequencePooling::kFirst ? 0 : shape[1] - 1;
  const Var one = Slice(context, input, {{.axis = 1, .begin = at, .end = at + 1}});
  return Reshape(context, one, {shape[0], shape[2]});
}

LayerType ToSequenceType() {
  return RowOf<ToSequenceOptions>("to_sequence", {}, OfNothing<ToSequenceLayer>);
}

LayerType SequencePoolType() {
  return RowOf<SequencePoolOptions>(
      "sequence_pool",
      {MakeChoice("mode", &SequencePoolOptions::mode, "What one vector stands for all positions.",
                  {{"mean", SequencePooling::kMean},
                   {"first", SequencePooling::kFirst},
                   {"last", SequencePooling::kLast}})},
      OfOptions<SequencePoolLayer>);
}

}  // namespace frugal

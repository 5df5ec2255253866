#include "sdk/module/repeat.h"
#include "sdk/ops/recurrent_sequence.h"

namespace frugal {
namespace {

struct GruRun : RecurrentRun {
  static constexpr std::int64_t kGateCount = 3;
  static constexpr bool kKeepsApart = true;

  void Forward(Context& context, const RecurrentParameters& p);
  // Turns both kept products into their gradients, last step first. They are not needed again.
  void Backward(Context& context, const RecurrentParameters& p, const Tensor& dy) const;
};

void GruRun::Forward(Context& context, const RecurrentParameters& p) {
  const std::int64_t bytes = 2 * shape.batch * (shape.gates + shape.hidden) * SizeOf(x.dtype());
  Repeat(context, shape.steps, [&](std::int64_t t) {
    Product(context, StepOf(hidden, t), *p.weight_hh, p.bias_hh, StepOf(from_hidden, t));
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.sequence().GruForward(StepOf(from_input, t), StepOf(from_hidden, t),
                                    StepOf(hidden, t), StepOf(hidden, t + 1));
    });
  });
}

void GruRun::Backward(Context& context, const RecurrentParameters& p, const Tensor& dy) const {
  const Shape state = {shape.batch, shape.hidden};
  const Tensor from_next = ZeroTensor(context, state);
  const Tensor direct = context.Allocate(state, dy.dtype());
  const Tensor dhidden = context.Allocate(state, dy.dtype());
  const std::int64_t bytes =
      shape.batch * (4 * shape.gates + 5 * shape.hidden) * SizeOf(dy.dtype());
  Repeat(context, shape.steps, [&](std::int64_t i) {
    const std::int64_t t = shape.steps - 1 - i;
    const Tensor dfrom_hidden = StepOf(from_hidden, t);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.elementwise().Add(StepOf(dy, t), from_next, dhidden);
      backend.sequence().GruBackward(dhidden, StepOf(from_input, t), dfrom_hidden,
                                     StepOf(hidden, t), direct);
    });
    ProductBack(context, dfrom_hidden, *p.weight_hh, from_next);
    context.Launch(
        {OperationKind::kElementwise, BytesOf(from_next, direct, from_next)},
        [&](Backend& backend, void*) { backend.elementwise().Add(from_next, direct, from_next); });
  });
}

}  // namespace

Var Gru(Context& context, const Var& x, const RecurrentParameters& parameters) {
  return RunSequence<GruRun>(context, x, parameters);
}

}  // namespace frugal

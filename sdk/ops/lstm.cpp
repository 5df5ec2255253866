#include "sdk/module/repeat.h"
#include "sdk/ops/recurrent_sequence.h"

namespace frugal {
namespace {

// from_input holds the gates' values.
struct LstmRun : RecurrentRun {
  static constexpr std::int64_t kGateCount = 4;
  static constexpr bool kKeepsApart = false;

  Tensor cells{};  // [T + 1, N, H], of which the first is zero

  void Forward(Context& context, const RecurrentParameters& p);
  // Turns the kept gates into their gradients, last step first. They are not needed again.
  void Backward(Context& context, const RecurrentParameters& p, const Tensor& dy) const;
};

void LstmRun::Forward(Context& context, const RecurrentParameters& p) {
  const std::int64_t batch = shape.batch;
  cells = ZeroTensor(context, {shape.steps + 1, batch, shape.hidden});
  const Tensor recurrent = context.Allocate({batch, shape.gates}, x.dtype());
  const std::int64_t bytes = 3 * batch * (shape.gates + shape.hidden) * SizeOf(x.dtype());
  Repeat(context, shape.steps, [&](std::int64_t t) {
    Product(context, StepOf(hidden, t), *p.weight_hh, p.bias_hh, recurrent);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      const Tensor now = StepOf(from_input, t);
      backend.elementwise().Add(now, recurrent, now);
      backend.sequence().LstmForward(now, StepOf(cells, t), StepOf(cells, t + 1),
                                     StepOf(hidden, t + 1));
    });
  });
}

void LstmRun::Backward(Context& context, const RecurrentParameters& p, const Tensor& dy) const {
  const Shape state = {shape.batch, shape.hidden};
  const Tensor from_next = ZeroTensor(context, state);
  const Tensor dcell = ZeroTensor(context, state);
  const Tensor dhidden = context.Allocate(state, dy.dtype());
  const std::int64_t bytes =
      shape.batch * (2 * shape.gates + 6 * shape.hidden) * SizeOf(dy.dtype());
  Repeat(context, shape.steps, [&](std::int64_t i) {
    const std::int64_t t = shape.steps - 1 - i;
    const Tensor dgates = StepOf(from_input, t);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.elementwise().Add(StepOf(dy, t), from_next, dhidden);
      backend.sequence().LstmBackward(dhidden, dgates, StepOf(cells, t), StepOf(cells, t + 1),
                                      dcell, dgates);
    });
    ProductBack(context, dgates, *p.weight_hh, from_next);
  });
}

}  // namespace

Var Lstm(Context& context, const Var& x, const RecurrentParameters& parameters) {
  return RunSequence<LstmRun>(context, x, parameters);
}

}  // namespace frugal

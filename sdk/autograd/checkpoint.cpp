#include "sdk/autograd/checkpoint.h"

namespace frugal {
namespace {

// The segment once more, on a tape of its own; returns the slot of its output.
int Rerun(Context& context, Tape& local, Var leaf, const SegmentFunction& segment) {
  const RecomputeScope recomputing(context);
  const TapeScope scope(context, &local);
  return segment(context, leaf).slot;
}

void RecomputeBackward(Context& context, const Var& input, const SegmentFunction& segment,
                       Tensor output_gradient) {
  Tape& outer = *context.tape();
  Tape local;
  const Var leaf = {input.value, input.needs_gradient() ? local.NewSlot() : Var::kNoGradient};
  const int output_slot = Rerun(context, local, leaf, segment);
  if (output_slot == Var::kNoGradient) return;
  // What has already arrived for the input goes first, as it would without checkpointing: the sum
  // is then taken in the same order and has the same bits.
  if (Tensor arrived = outer.TakeGradient(input.slot)) {
    local.Accumulate(context, leaf.slot, std::move(arrived));
  }
  local.Backward(context, output_slot, std::move(output_gradient));
  if (Tensor gradient = local.TakeGradient(leaf.slot)) {
    outer.Accumulate(context, input.slot, std::move(gradient));
  }
}

}  // namespace

Var Checkpoint(Context& context, const Var& input, const SegmentFunction& segment) {
  if (context.tape() == nullptr) return segment(context, input);
  Tensor output;
  bool differentiable = input.needs_gradient();
  {
    const TapeScope no_tape(context, nullptr);
    const DifferentiableProbe probe(context);
    output = segment(context, {input.value, Var::kNoGradient}).value;
    differentiable |= probe.found();
  }
  return context.Record(std::move(output), differentiable,
                        [=](Context& ctx, Tensor output_gradient) {
                          RecomputeBackward(ctx, input, segment, std::move(output_gradient));
                        });
}

}  // namespace frugal

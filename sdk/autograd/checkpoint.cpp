#include "sdk/autograd/checkpoint.h"

#include <algorithm>
#include <map>
#include <utility>

namespace frugal {
namespace {

// Without a tape, variables are told apart by what they hold.
bool IsSame(const Var& a, const Var& b) {
  return a.value.raw() == b.value.raw() && a.shape() == b.shape() && a.dtype() == b.dtype();
}

// Holds what comes out of a segment beside what it hands on.
struct SegmentOutputs {
  Bundle made;                         // each new variable once
  std::vector<std::size_t> positions;  // in the bundle, of each of them
};

Bundle Detached(const Bundle& bundle) {
  Bundle detached = bundle;
  for (Var& one : detached) one.slot = Var::kNoGradient;
  return detached;
}

// As a segment holds its inputs until it runs again: by their values.
Bundle Held(Bundle bundle) {
  for (Var& one : bundle) one.remat = nullptr;
  return bundle;
}

// Leaves out the skips that pass the segment: each is free as soon as the layer that takes it is
// done, while this segment still waits for its turn.
Bundle WithoutSkips(Bundle inputs, const Bundle& after) {
  for (std::size_t i = 0; i < std::min(inputs.size(), after.size()); ++i) {
    if (inputs[i].is_skip && after[i].is_skip && IsSame(inputs[i], after[i])) {
      inputs[i] = Var();
      inputs[i].is_skip = true;
    }
  }
  return inputs;
}

// Puts the variables of `inputs` back where `bundle` holds them, and collects the others.
SegmentOutputs SortOutputs(const Bundle& inputs, Bundle& bundle) {
  SegmentOutputs outputs;
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    if (!bundle[i].value) continue;  // is_skip
    const auto same = [&](const Var& other) { return IsSame(bundle[i], other); };
    if (const auto handed_on = std::ranges::find_if(inputs, same); handed_on != inputs.end()) {
      bundle[i].slot = handed_on->slot;
    } else if (std::ranges::none_of(outputs.made, same)) {
      outputs.made.push_back(bundle[i]);
      outputs.positions.push_back(i);
    }
  }
  return outputs;
}

// The slots on a segment's own tape of the variables that came in, by those outside.
using LeafSlots = std::map<int, int>;

Bundle LeavesOn(Tape& local, Bundle bundle, LeafSlots& leaves) {
  for (Var& one : bundle) {
    if (!one.needs_gradient()) continue;
    const auto [leaf, is_new] = leaves.try_emplace(one.slot);
    if (is_new) leaf->second = local.NewSlot();
    one.slot = leaf->second;
  }
  return bundle;
}

// The segment once more, on a tape of its own; returns the slots of its outputs.
std::vector<int> Rerun(Context& context, Tape& local, Bundle bundle, const BundleSegment& segment,
                       const std::vector<std::size_t>& positions) {
  const RecomputeScope recomputing(context);
  const TapeScope scope(context, &local);
  segment(context, bundle);
  std::vector<int> slots;
  for (const std::size_t position : positions) slots.push_back(bundle[position].slot);
  return slots;
}

// The segment's inputs go with it: each is free as soon as none of its operations needs it.
void RecomputeBackward(Context& context, Bundle inputs, const BundleSegment& segment,
                       const std::vector<std::size_t>& positions, std::vector<Tensor> gradients) {
  Tape& outer = *context.tape();
  Tape local;
  LeafSlots leaves;
  const std::vector<int> outputs =
      Rerun(context, local, LeavesOn(local, std::move(inputs), leaves), segment, positions);
  // Gradients that have already arrived for the inputs go first, as they would without
  // checkpointing: the sum is then taken in the same order and has the same bits.
  for (const auto& [outside, inside] : leaves) {
    if (Tensor arrived = outer.TakeGradient(outside)) {
      local.Accumulate(context, inside, std::move(arrived));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (gradients[i]) local.Accumulate(context, outputs[i], std::move(gradients[i]));
  }
  gradients.clear();
  local.Backward(context);
  for (const auto& [outside, inside] : leaves) {
    if (Tensor gradient = local.TakeGradient(inside)) {
      outer.Accumulate(context, outside, std::move(gradient));
    }
  }
}

bool NeedsGradient(const Bundle& bundle) {
  return std::ranges::any_of(bundle, [](const Var& one) { return one.needs_gradient(); });
}

}  // namespace

void Checkpoint(Context& context, Bundle& bundle, const BundleSegment& segment) {
  if (context.tape() == nullptr) return segment(context, bundle);
  const Bundle inputs = Held(bundle);
  bool differentiable = NeedsGradient(inputs);
  {
    const TapeScope no_tape(context, nullptr);
    const DifferentiableProbe probe(context);
    bundle = Detached(inputs);
    segment(context, bundle);
    differentiable |= probe.found();
  }
  SegmentOutputs outputs = SortOutputs(inputs, bundle);
  context.Record(outputs.made, differentiable,
                 [held = WithoutSkips(inputs, bundle), segment, positions = outputs.positions](
                     Context& ctx, std::vector<Tensor> gradients) mutable {
                   RecomputeBackward(ctx, std::move(held), segment, positions,
                                     std::move(gradients));
                 });
  for (Var& one : bundle) {
    const auto made =
        std::ranges::find_if(outputs.made, [&](const Var& m) { return IsSame(one, m); });
    if (made != outputs.made.end()) one.slot = made->slot;
  }
}

Var Checkpoint(Context& context, const Var& input, const SegmentFunction& segment) {
  Bundle bundle = {input};
  Checkpoint(context, bundle, [segment](Context& ctx, Bundle& inner) {
    inner[0] = segment(ctx, std::exchange(inner[0], Var()));
  });
  return bundle[0];
}

}  // namespace frugal

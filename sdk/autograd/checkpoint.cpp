#include "sdk/autograd/checkpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sdk/autograd/kept_parts.h"
#include "sdk/autograd/saved_tensor.h"

namespace frugal {
namespace {

// Holds what comes out of a segment beside what it hands on.
struct SegmentOutputs {
  VarTuple made;                       // each new variable once
  std::vector<std::size_t> positions;  // in the tuple, of each of them
};

VarTuple Detached(const VarTuple& vars) {
  VarTuple detached = vars;
  for (Var& one : detached) one.slot = Var::kNoGradient;
  return detached;
}

// A segment's operations read its inputs by their values, whatever is kept of these outside.
VarTuple WithoutRemats(VarTuple vars) {
  for (Var& one : vars) one.remat = nullptr;
  return vars;
}

// Leaves out the skips that pass the segment: each is free as soon as the layer that takes it is
// done, while this segment still waits for its turn.
VarTuple WithoutSkips(VarTuple inputs, const VarTuple& after) {
  for (std::size_t i = 0; i < std::min(inputs.size(), after.size()); ++i) {
    if (inputs[i].is_skip && after[i].is_skip && HoldSame(inputs[i], after[i])) {
      inputs[i] = Var();
      inputs[i].is_skip = true;
    }
  }
  return inputs;
}

// Puts the variables of `inputs` back where `vars` holds them, and collects the others.
SegmentOutputs SortOutputs(const VarTuple& inputs, VarTuple& vars) {
  SegmentOutputs outputs;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (!vars[i].value) continue;  // is_skip
    const auto same = [&](const Var& other) { return HoldSame(vars[i], other); };
    if (const auto handed_on = std::ranges::find_if(inputs, same); handed_on != inputs.end()) {
      vars[i].slot = handed_on->slot;
    } else if (std::ranges::none_of(outputs.made, same)) {
      outputs.made.push_back(vars[i]);
      outputs.positions.push_back(i);
    }
  }
  return outputs;
}

// Holds a segment's inputs until it runs again, as an operation would: what is rematerialized for
// others is rematerialized for the segment too.
class HeldInputs {
 public:
  HeldInputs(Context& context, VarTuple vars) : vars_(std::move(vars)) {
    for (Var& one : vars_) {
      values_.push_back(one.value ? SavedTensor(context, one) : SavedTensor());
      one.value = Tensor();
      one.remat = nullptr;
    }
  }
  // Once.
  VarTuple Take(Context& context) {
    for (std::size_t i = 0; i < vars_.size(); ++i) {
      vars_[i].value = std::exchange(values_[i], {}).Get(context);
    }
    return std::move(vars_);
  }

 private:
  VarTuple vars_;
  std::vector<SavedTensor> values_;
};

VarTuple LeavesOn(Tape& local, VarTuple vars, LeafSlots& leaves) {
  for (Var& one : vars) {
    if (!one.needs_gradient()) continue;
    const auto [leaf, is_new] = leaves.try_emplace(one.slot);
    if (is_new) leaf->second = local.NewSlot();
    one.slot = leaf->second;
  }
  return vars;
}

// Holds what a segment needs to run again, but for its inputs.
struct Again {
  TupleSegment segment;
  std::shared_ptr<KeptParts> kept;     // of its first run; null for none
  std::vector<std::size_t> positions;  // in the tuple, of what it makes
};

// The segment once more, on a tape of its own; returns the slots of its outputs.
std::vector<int> Rerun(Context& context, Tape& local, VarTuple vars, const Again& again) {
  const RecomputeScope recomputing(context);
  const TapeScope scope(context, &local);
  const KeptPartsScope kept(context, again.kept.get());
  again.segment(context, vars);
  std::vector<int> slots;
  for (const std::size_t position : again.positions) slots.push_back(vars[position].slot);
  return slots;
}

// The segment's inputs go with it: each is free as soon as none of its operations needs it.
void RecomputeBackward(Context& context, VarTuple inputs, const Again& again,
                       std::vector<Tensor> gradients) {
  Tape local;
  LeafSlots leaves;
  VarTuple vars = LeavesOn(local, std::move(inputs), leaves);
  const std::vector<int> outputs = Rerun(context, local, std::move(vars), again);
  RunLocalBackward(context, local, leaves, outputs, std::move(gradients));
}

bool NeedsGradient(const VarTuple& vars) {
  return std::ranges::any_of(vars, [](const Var& one) { return one.needs_gradient(); });
}

}  // namespace

void Checkpoint(Context& context, VarTuple& vars, const TupleSegment& segment) {
  if (context.tape() == nullptr) return segment(context, vars);
  const VarTuple given = vars;
  const VarTuple inputs = WithoutRemats(vars);
  bool differentiable = NeedsGradient(inputs);
  auto kept = std::make_shared<KeptParts>(inputs, context.kept_parts());
  {
    const TapeScope no_tape(context, nullptr);
    const KeptPartsScope keeping(context, kept.get());
    const DifferentiableProbe probe(context);
    vars = Detached(inputs);
    segment(context, vars);
    differentiable |= probe.found();
  }
  kept->Give();
  if (kept->empty()) kept = nullptr;
  SegmentOutputs outputs = SortOutputs(inputs, vars);
  context.Record(outputs.made, differentiable,
                 [held = HeldInputs(context, WithoutSkips(given, vars)),
                  again = Again{segment, kept, outputs.positions}](
                     Context& ctx, std::vector<Tensor> gradients) mutable {
                   RecomputeBackward(ctx, held.Take(ctx), again, std::move(gradients));
                 });
  for (Var& one : vars) {
    const auto made =
        std::ranges::find_if(outputs.made, [&](const Var& m) { return HoldSame(one, m); });
    if (made != outputs.made.end()) one.slot = made->slot;
  }
}

Var Checkpoint(Context& context, const Var& input, const SegmentFunction& segment) {
  VarTuple vars = {input};
  Checkpoint(context, vars, [segment](Context& ctx, VarTuple& inner) {
    inner[0] = segment(ctx, std::exchange(inner[0], Var()));
  });
  return vars[0];
}

void RunOnce(Context& context, VarTuple& vars, const TupleSegment& part) {
  if (context.kept_parts() == nullptr) return part(context, vars);
  context.kept_parts()->Run(context, vars, part);
}

}  // namespace frugal

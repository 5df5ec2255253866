#include "sdk/autograd/kept_parts.h"

#include <algorithm>
#include <utility>

#include "sdk/core/error.h"

namespace frugal {

bool HoldSame(const Var& a, const Var& b) {
  return a.value.raw() == b.value.raw() && a.shape() == b.shape() && a.dtype() == b.dtype();
}

void RunLocalBackward(Context& context, Tape& local, const LeafSlots& leaves,
                      const std::vector<int>& outputs, std::vector<Tensor> gradients) {
  Tape& outer = *context.tape();
  // Gradients that have already arrived for the inputs go first, as they would on one tape: the sum
  // is then taken in the same order and has the same bits.
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

// Nobody knows, without a tape, what needs a gradient, but for what came into the segment as it is.
VarTuple KeptParts::WithLeaves(const VarTuple& vars, Part& part) const {
  VarTuple leaves = vars;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const auto same = [&](const Var& other) { return other.value && HoldSame(vars[i], other); };
    const auto outside = std::ranges::find_if(inputs_, same);
    const auto twin =
        std::ranges::find_if(vars.begin(), vars.begin() + std::ssize(part.leaves), same);
    int slot = Var::kNoGradient;
    if (twin - vars.begin() < std::ssize(part.leaves)) {
      slot = part.leaves[static_cast<std::size_t>(twin - vars.begin())];
    } else if (vars[i].value && vars[i].dtype() != DType::kI64 &&
               (outside == inputs_.end() || outside->needs_gradient())) {
      slot = part.tape.NewSlot();
    }
    part.leaves.push_back(leaves[i].slot = slot);
  }
  return leaves;
}

void KeptParts::Keep(Context& context, VarTuple& vars, const PartFunction& part) {
  const VarTuple inputs = vars;
  auto kept = std::make_shared<Part>();
  vars = WithLeaves(inputs, *kept);
  {
    const TapeScope on_its_own(context, &kept->tape);
    const KeptPartsScope not_inside(context, nullptr);
    part(context, vars);
  }
  for (Var& one : vars) {
    const auto same = [&](const Var& input) { return input.value && HoldSame(one, input); };
    const auto input = std::ranges::find_if(inputs, same);
    const bool is_made = input == inputs.end();
    kept->inputs.push_back(is_made ? kMade : static_cast<int>(input - inputs.begin()));
    kept->outputs.push_back(is_made ? one.slot : Var::kNoGradient);
    one.slot = Var::kNoGradient;
    one.remat = nullptr;
    context.Require(one.value);
    kept->after.push_back(one);
    if (!is_made) kept->after.back().value = Tensor();
  }
  parts_.push_back(std::move(kept));
}

std::shared_ptr<KeptParts::Part> KeptParts::Next() {
  if (next_ < parts_.size()) return std::move(parts_[next_++]);
  throw UsageError({.where = "checkpoint",
                    .required = "a segment runs the same layers each time",
                    .given = "it ran more of them again than before",
                    .advice = "let what runs not depend on values"});
}

// Without a tape: only the values of what the part left are wanted now.
void KeptParts::TakeOver(VarTuple& vars) {
  parts_.push_back(outer_->Next());
  const Part& part = *parts_.back();
  VarTuple after = part.after;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (part.inputs[i] == kMade) continue;
    const bool is_skip = after[i].is_skip;
    after[i] = vars[static_cast<std::size_t>(part.inputs[i])];
    after[i].is_skip = is_skip;
  }
  vars = std::move(after);
}

void KeptParts::GiveOut(Context& context, VarTuple& vars) {
  const std::shared_ptr<Part> part = Next();
  LeafSlots leaves;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].needs_gradient() && part->leaves[i] != Var::kNoGradient) {
      leaves.emplace(vars[i].slot, part->leaves[i]);
    }
  }
  VarTuple after = std::exchange(part->after, {});
  VarTuple made;
  std::vector<int> slots;  // on the part's tape, of each that was made
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (part->inputs[i] != kMade) {
      const bool is_skip = after[i].is_skip;
      after[i] = vars[static_cast<std::size_t>(part->inputs[i])];
      after[i].is_skip = is_skip;
    } else if (part->outputs[i] != Var::kNoGradient) {
      const auto twin = std::ranges::find(slots, part->outputs[i]);
      positions.push_back(i);
      if (twin != slots.end()) continue;
      made.push_back(after[i]);
      slots.push_back(part->outputs[i]);
    }
  }
  context.Record(made, !made.empty(),
                 [part, leaves, slots](Context& ctx, std::vector<Tensor> gradients) {
                   RunLocalBackward(ctx, part->tape, leaves, slots, std::move(gradients));
                 });
  for (const std::size_t i : positions) {
    const auto at = std::ranges::find(slots, part->outputs[i]) - slots.begin();
    after[i].slot = made[static_cast<std::size_t>(at)].slot;
  }
  vars = std::move(after);
}

void KeptParts::Run(Context& context, VarTuple& vars, const PartFunction& part) {
  if (giving_) return GiveOut(context, vars);
  outer_ != nullptr ? TakeOver(vars) : Keep(context, vars, part);
}

}  // namespace frugal

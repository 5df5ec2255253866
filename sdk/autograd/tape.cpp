#include "sdk/autograd/tape.h"

#include <algorithm>

#include "sdk/autograd/context.h"

namespace frugal {

int Tape::NewSlot() {
  gradients_.emplace_back();
  return static_cast<int>(gradients_.size()) - 1;
}

void Tape::Record(int output_slot, LabelTable::Id label, BackwardFunction backward) {
  nodes_.push_back({.label = label, .output_slot = output_slot, .backward = std::move(backward)});
}

void Tape::Record(std::vector<int> output_slots, LabelTable::Id label,
                  TupleBackwardFunction backward) {
  nodes_.push_back({.label = label,
                    .output_slots = std::move(output_slots),
                    .tuple_backward = std::move(backward)});
}

void Tape::Accumulate(Context& context, int slot, Tensor gradient) {
  if (slot == Var::kNoGradient) return;
  Tensor& held = gradients_[static_cast<std::size_t>(slot)];
  if (!held) {
    held = std::move(gradient);
    return;
  }
  // A gradient that another slot shares must not change under it.
  const Tensor sum = held.IsSoleOwner()       ? held
                     : gradient.IsSoleOwner() ? gradient
                                              : context.Allocate(held.shape(), held.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(held, gradient, sum)},
                 [&](Backend& backend, void*) { backend.elementwise().Add(held, gradient, sum); });
  held = sum;
}

Tensor Tape::TakeGradient(int slot) {
  if (slot == Var::kNoGradient) return {};
  return std::exchange(gradients_[static_cast<std::size_t>(slot)], Tensor());
}

void Tape::RunOne(Context& context, Node& node) {
  Tensor gradient = TakeGradient(node.output_slot);
  if (!gradient) return;  // nothing that was differentiated depends on it
  node.backward(context, std::move(gradient));
}

void Tape::RunSeveral(Context& context, Node& node) {
  std::vector<Tensor> gradients;
  for (const int slot : node.output_slots) gradients.push_back(TakeGradient(slot));
  if (std::ranges::none_of(gradients, [](const Tensor& one) { return bool(one); })) return;
  node.tuple_backward(context, std::move(gradients));
}

void Tape::RunBack(Context& context) {
  Node node = std::move(nodes_.back());
  nodes_.pop_back();
  const LabelScope label(context, node.label);
  const BackwardScope backward(context, true);
  if (node.tuple_backward) return RunSeveral(context, node);
  RunOne(context, node);
}

void Tape::Backward(Context& context, int slot, Tensor seed) {
  const TapeScope scope(context, this);
  Accumulate(context, slot, std::move(seed));
  Backward(context);
}

void Tape::Backward(Context& context) {
  const TapeScope scope(context, this);
  while (!nodes_.empty()) {
    RunBack(context);
    const BackwardScope after(context, false);
    context.AfterBackwardOfOperation();
  }
}

void Tape::Clear() {
  while (!nodes_.empty()) nodes_.pop_back();
  gradients_.clear();
}

Var Context::Record(Tensor value, bool differentiable, BackwardFunction backward) {
  met_differentiable_ |= differentiable;
  if (tape_ == nullptr || !differentiable) return {std::move(value), Var::kNoGradient};
  const int slot = tape_->NewSlot();
  tape_->Record(slot, ledger().label(), std::move(backward));
  return {std::move(value), slot};
}

void Context::Record(std::span<Var> values, bool differentiable, TupleBackwardFunction backward) {
  met_differentiable_ |= differentiable;
  if (tape_ == nullptr || !differentiable) return;
  std::vector<int> slots;
  for (Var& value : values) slots.push_back(value.slot = tape_->NewSlot());
  tape_->Record(std::move(slots), ledger().label(), std::move(backward));
}

}  // namespace frugal

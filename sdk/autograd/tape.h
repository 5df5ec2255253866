#pragma once

#include <functional>
#include <vector>

#include "sdk/autograd/variable.h"
#include "sdk/memory/trace.h"

namespace frugal {

class Context;

// Takes the gradient of an operation's output and adds to those of its inputs and parameters. What
// it captured is what the operation keeps for backward, and dies with it.
using BackwardFunction = std::function<void(Context&, Tensor)>;
// Does the same for an operation of several outputs; a gradient is empty where none arrived.
using TupleBackwardFunction = std::function<void(Context&, std::vector<Tensor>)>;

// The operations of one forward pass in execution order. Backward pops them in reverse, so memory
// is given back in a fixed order.
class Tape {
 public:
  int NewSlot();
  void Record(int output_slot, LabelTable::Id label, BackwardFunction backward);
  void Record(std::vector<int> output_slots, LabelTable::Id label, TupleBackwardFunction backward);

  // Adds to the gradient of a slot; takes the tensor over where it is the first.
  void Accumulate(Context& context, int slot, Tensor gradient);
  // Seeds the gradient of `slot` and runs everything back. The tape is empty afterwards, except
  // for the gradients of leaves (slots that no operation of this tape produced).
  void Backward(Context& context, int slot, Tensor seed);
  // Runs everything back from the gradients that have been accumulated so far.
  void Backward(Context& context);
  // The gradient of a slot, empty where none arrived; leaves the slot empty.
  Tensor TakeGradient(int slot);
  // The gradient that has arrived so far, without taking it.
  const Tensor& gradient(int slot) const { return gradients_[static_cast<std::size_t>(slot)]; }

  std::size_t node_count() const { return nodes_.size(); }
  // Forgets everything, e.g. after an error in the middle of a step.
  void Clear();

 private:
  // Holds an operation of one output, or of several: then the second pair is used.
  struct Node {
    LabelTable::Id label;
    int output_slot = Var::kNoGradient;
    BackwardFunction backward{};
    std::vector<int> output_slots{};
    TupleBackwardFunction tuple_backward{};
  };
  void RunOne(Context& context, Node& node);
  void RunSeveral(Context& context, Node& node);
  void RunBack(Context& context);  // the last node

  std::vector<Node> nodes_;
  std::vector<Tensor> gradients_;
};

}  // namespace frugal

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sdk/autograd/context.h"

namespace frugal {

// The slots on a tape of its own of the variables that came in, by those outside.
using LeafSlots = std::map<int, int>;

// Runs a tape of its own back from gradients of its outputs, and adds what comes to its leaves to
// the slots outside, in the order of sums that one tape would have.
void RunLocalBackward(Context& context, Tape& local, const LeafSlots& leaves,
                      const std::vector<int>& outputs, std::vector<Tensor> gradients);

// Without a tape, variables are told apart by what they hold.
bool HoldSame(const Var& a, const Var& b);

// The parts of one segment that run once, in order (see RunOnce): filled while the segment runs for
// the first time, without a tape, and given out while it runs again.
class KeptParts {
 public:
  // Takes the segment's inputs: those that need no gradient have none inside either. A segment that
  // lies in one that runs again takes its parts over from there (`outer`, or null).
  KeptParts(const VarTuple& inputs, KeptParts* outer) : inputs_(inputs), outer_(outer) {}

  bool empty() const { return parts_.empty(); }
  bool giving() const { return giving_; }
  // Begins to give out what was kept.
  void Give() {
    giving_ = true;
    inputs_.clear();
    outer_ = nullptr;
  }
  using PartFunction = std::function<void(Context&, VarTuple&)>;
  // Runs a part and keeps it; or takes it over; or gives it out.
  void Run(Context& context, VarTuple& vars, const PartFunction& part);

 private:
  struct Part {
    Tape tape{};
    std::vector<int> leaves{};   // on the tape, of each input
    VarTuple after{};            // what the part left; values only of what it made
    std::vector<int> inputs{};   // which input each of `after` is, or kMade
    std::vector<int> outputs{};  // on the tape, of each of `after`
  };
  static constexpr int kMade = -1;

  void Keep(Context& context, VarTuple& vars, const PartFunction& part);
  void TakeOver(VarTuple& vars);
  std::shared_ptr<Part> Next();
  void GiveOut(Context& context, VarTuple& vars);
  VarTuple WithLeaves(const VarTuple& vars, Part& part) const;

  VarTuple inputs_;
  KeptParts* outer_;
  std::vector<std::shared_ptr<Part>> parts_;
  std::size_t next_ = 0;
  bool giving_ = false;
};

}  // namespace frugal

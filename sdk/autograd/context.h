#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/autograd/launch_cost.h"
#include "sdk/autograd/profile.h"
#include "sdk/autograd/running_update.h"
#include "sdk/autograd/tape.h"
#include "sdk/autograd/waiting_launches.h"
#include "sdk/backend/backend.h"
#include "sdk/memory/ledger.h"

namespace frugal {

class ActivationPager;
class DeferredGradients;
class KeptParts;
class KeyValueCache;
class ParameterStore;
class Remat;

// Names parts of backward passes that may wait.
enum class Deferred : std::uint8_t {
  // Gradients of a table that another layer shares: so the sum of a tied weight's gradients has one
  // order, all micro-batches of the layers behind first, wherever the layers run.
  kSharedTables,
  // Gradients of the weights of products and convolutions, which nothing in the backward pass waits
  // for.
  kWeights,
};

// Everything an operation reaches outside itself: kernels, memory, the tape, parameters, random
// numbers. Dry, the memory has addresses but no storage and kernels are not run; nothing else
// differs, and no operation can tell. Threads: each that runs a network has a context of its own.
class Context {
 public:
  struct Parts {
    Backend& backend;
    MemoryLedger& ledger;
    Allocator& step_memory;  // activations, workspace, batches: given back within the step
    ParameterStore& parameters;
    DType dtype = DType::kF32;  // of activations
    std::uint64_t seed = 0;
    bool dry = false;
  };
  explicit Context(const Parts& parts) : parts_(parts) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Returns the type of activations. Operations allocate in the element type of their inputs.
  DType dtype() const { return parts_.dtype; }
  // Returns the type of parameters, their gradients, and what needs more than 8 bits: statistics,
  // losses.
  DType master_dtype() const { return MasterType(parts_.dtype); }
  MemoryLedger& ledger() { return parts_.ledger; }
  const MemoryLedger& ledger() const { return parts_.ledger; }
  ParameterStore& parameters() { return parts_.parameters; }
  // Returns the backend for questions that a plan asks too (scratch sizes, fusion); kernels run
  // through Launch.
  Backend& backend() { return parts_.backend; }
  std::uint64_t seed() const { return parts_.seed; }

  // Memory of this step, not initialized.
  Tensor Allocate(const Shape& shape, DType dtype, MemoryTag tag = MemoryTag::kActivation) {
    RunWaiting();
    return AllocateResult(shape, dtype, tag);
  }
  // Returns memory for what LaunchResult makes.
  Tensor AllocateResult(const Shape& shape, DType dtype, MemoryTag tag = MemoryTag::kActivation) {
    return Tensor(parts_.step_memory, shape, dtype, tag);
  }

  // Runs `kernel(Backend&, void* scratch)` with that much scratch. The only place where a dry run
  // differs from a real one.
  template <class Kernel>
  void Launch(const LaunchCost& cost, Kernel&& kernel) {
    RunWaiting();
    if (MemoryTrace* trace = ledger().trace(); trace != nullptr && trace->has_operations()) {
      TraceLaunch(*trace, cost);
    }
    const Block scratch = cost.scratch_bytes > 0 ? parts_.step_memory.Allocate(
                                                       cost.scratch_bytes, MemoryTag::kWorkspace)
                                                 : Block();
    profile_.flops += cost.flops;
    ++profile_.launches;
    if (recomputing_) profile_.recomputed_flops += cost.flops;
    if (parts_.dry) return;
    const ProfileScope scope(profile_, ledger(), cost, in_backward_ && !recomputing_);
    kernel(parts_.backend, scratch.data());
  }

  // Runs a kernel as Launch does that only makes a result which its own backward pass does not
  // need. At the end of a segment that runs again, such a kernel waits until its result is kept
  // (Require), or for the next Launch or Allocate; the last ones never run, since nobody reads what
  // they would make. The kernel holds its tensors by value.
  template <class Kernel>
  void LaunchResult(const Tensor& result, const LaunchCost& cost, Kernel kernel) {
    if (recomputing_ && !more_follows_) {
      waiting_.Add(cost.kind.value, result,
                   [this, label = ledger().label(), cost, run = std::move(kernel)] {
                     const HolderScope holder(ledger(), label);
                     Launch(cost, run);
                   });
      return;
    }
    Launch(cost, kernel);
  }
  // Says that somebody keeps this value, so that what makes it must not wait any longer.
  void Require(const Tensor& value) {
    if (!waiting_.empty()) waiting_.RunFor(value);
  }
  // Runs what waits up to the last of this kind: a row of such operations would hold all that they
  // make.
  void RunWaiting(OperationKind kind) {
    if (!waiting_.empty()) waiting_.RunUpTo(kind);
  }

  // The tape that operations record on; null where no gradients are wanted.
  Tape* tape() { return tape_; }
  // An operation's result. With a tape and something to differentiate, `backward` is kept and the
  // result gets a gradient slot. `differentiable` says whether an input or parameter needs one.
  Var Record(Tensor value, bool differentiable, BackwardFunction backward);
  // The results of an operation of several outputs, which get their slots.
  void Record(std::span<Var> values, bool differentiable, TupleBackwardFunction backward);
  void Accumulate(int slot, Tensor gradient) {
    tape_->Accumulate(*this, slot, std::move(gradient));
  }

  // Training mode: dropout drops, batch norm uses and updates batch statistics.
  bool training() const { return training_; }
  void set_training(bool training) { training_ = training; }
  // Number of the optimizer step, and of the part of its batch; both are in every dropout stream.
  std::int64_t step() const { return step_; }
  void set_step(std::int64_t step) { step_ = step; }
  std::int64_t micro_batch() const { return micro_batch_; }
  void set_micro_batch(std::int64_t number) { micro_batch_ = number; }
  // Pages out a value that an operation keeps for its backward pass. Returns how it comes back;
  // null where it stays in memory, as everywhere without a pager.
  std::shared_ptr<Remat> PageOut(const Tensor& value);
  ActivationPager* activation_pager() const { return activation_pager_; }
  void set_activation_pager(ActivationPager* pager) { activation_pager_ = pager; }
  // Returns the cache of a network that generates position by position; null elsewhere.
  KeyValueCache* cache() const { return cache_; }
  void set_cache(KeyValueCache* cache) { cache_ = cache; }
  // Runs behind each operation's backward, when what it kept is free again.
  using AfterBackward = std::function<void(Context&)>;
  void set_after_backward(AfterBackward after) { after_backward_ = std::move(after); }
  void AfterBackwardOfOperation() {
    if (after_backward_) after_backward_(*this);
  }
  // Runs a part of a backward pass now or, within a DeferScope of its kind, when its queue runs.
  void RunDeferred(Deferred what, std::function<void(Context&)> backward);
  // Batch norms leave here what is to move their running statistics; it is null where these move at
  // once.
  std::vector<RunningUpdate>* running_updates() const { return running_updates_; }
  void set_running_updates(std::vector<RunningUpdate>* updates) { running_updates_ = updates; }
  // True for backward's own kernels; what runs again for it counts as forward.
  bool in_backward() const { return in_backward_ && !recomputing_; }
  // True while a checkpointed segment runs for the second time.
  bool recomputing() const { return recomputing_; }

  // Returns what parts of the running segment leave for its second run (checkpoint.h); null outside
  // of segments.
  KeptParts* kept_parts() const { return kept_parts_; }

  Profile& profile() { return profile_; }

 private:
  friend class TapeScope;
  friend class RecomputeScope;
  friend class MoreFollowsScope;
  friend class BackwardScope;
  friend class DifferentiableProbe;
  friend class DeferScope;
  friend class KeptPartsScope;
  friend class ManyTurns;

  void RunWaiting() {
    if (!waiting_.empty()) waiting_.RunAll();
  }
  void TraceLaunch(MemoryTrace& trace, const LaunchCost& cost) {
    trace.Add({.label = ledger().label(),
               .kind = cost.kind.value,
               .backward = in_backward_ && !recomputing_,
               .recomputed = recomputing_,
               .flops = cost.flops,
               .bytes = static_cast<double>(cost.bytes)});
  }

  Parts parts_;
  Tape* tape_ = nullptr;
  KeyValueCache* cache_ = nullptr;
  KeptParts* kept_parts_ = nullptr;
  ActivationPager* activation_pager_ = nullptr;
  AfterBackward after_backward_;
  std::vector<RunningUpdate>* running_updates_ = nullptr;
  bool training_ = false;
  bool recomputing_ = false;
  bool more_follows_ = false;  // of the segment that runs again
  bool in_backward_ = false;
  std::array<DeferredGradients*, 2> deferred_{};  // by Deferred; null where nothing waits
  bool met_differentiable_ = false;  // by any operation since a DifferentiableProbe began
  std::int64_t step_ = 0;
  std::int64_t micro_batch_ = 0;
  Profile profile_;
  WaitingLaunches waiting_;
};

// Records on `tape` (or on none) until the end of the scope.
class TapeScope {
 public:
  TapeScope(Context& context, Tape* tape) : context_(context), previous_(context.tape_) {
    context_.tape_ = tape;
  }
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;
  ~TapeScope() { context_.tape_ = previous_; }

 private:
  Context& context_;
  Tape* previous_;
};

// Finds out whether any operation in its scope had something to differentiate.
class DifferentiableProbe {
 public:
  explicit DifferentiableProbe(Context& context)
      : context_(context), previous_(std::exchange(context.met_differentiable_, false)) {}
  DifferentiableProbe(const DifferentiableProbe&) = delete;
  DifferentiableProbe& operator=(const DifferentiableProbe&) = delete;
  ~DifferentiableProbe() { context_.met_differentiable_ |= previous_; }

  bool found() const { return context_.met_differentiable_; }

 private:
  Context& context_;
  bool previous_;
};

// A queue of parts of backward passes that wait.
class DeferredGradients {
 public:
  // Runs all that wait, in the order in which they came.
  void Run(Context& context);

 private:
  friend class Context;
  struct Waiting {
    LabelTable::Id label;
    std::function<void(Context&)> backward;
  };
  std::vector<Waiting> waiting_;
};

// While it lives, what it names waits in the queue; with none (null), nothing does.
class DeferScope {
 public:
  DeferScope(Context& context, Deferred what, DeferredGradients* queue)
      : place_(context.deferred_[static_cast<std::size_t>(what)]),
        previous_(std::exchange(place_, queue)) {}
  DeferScope(const DeferScope&) = delete;
  DeferScope& operator=(const DeferScope&) = delete;
  ~DeferScope() { place_ = previous_; }

 private:
  DeferredGradients*& place_;
  DeferredGradients* previous_;
};

// Parts in this scope are kept there; with none (null), they run like all else.
class KeptPartsScope {
 public:
  KeptPartsScope(Context& context, KeptParts* parts)
      : context_(context), previous_(std::exchange(context.kept_parts_, parts)) {}
  KeptPartsScope(const KeptPartsScope&) = delete;
  KeptPartsScope& operator=(const KeptPartsScope&) = delete;
  ~KeptPartsScope() { context_.kept_parts_ = previous_; }

 private:
  Context& context_;
  KeptParts* previous_;
};

// Segments run again in this scope. What still waits at its end does not run (LaunchResult).
class RecomputeScope {
 public:
  explicit RecomputeScope(Context& context)
      : context_(context),
        previous_(std::exchange(context.recomputing_, true)),
        followed_(std::exchange(context.more_follows_, false)) {}
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;
  ~RecomputeScope() {
    context_.recomputing_ = previous_;
    context_.more_follows_ = followed_;
    context_.waiting_.Clear();
  }

 private:
  Context& context_;
  bool previous_;
  bool followed_;
};

// Runs in this scope are not the end of their segment, unless (false) they may be. Who runs one
// part behind the other says so, since launches that wait hold memory.
class MoreFollowsScope {
 public:
  MoreFollowsScope(Context& context, bool more_follows)
      : context_(context),
        previous_(std::exchange(context.more_follows_, more_follows || context.more_follows_)) {}
  MoreFollowsScope(const MoreFollowsScope&) = delete;
  MoreFollowsScope& operator=(const MoreFollowsScope&) = delete;
  ~MoreFollowsScope() { context_.more_follows_ = previous_; }

 private:
  Context& context_;
  bool previous_;
};

// Kernels in this scope are backward's, or (false) are not although it waits for them.
class BackwardScope {
 public:
  BackwardScope(Context& context, bool in_backward)
      : context_(context), previous_(std::exchange(context.in_backward_, in_backward)) {}
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;
  ~BackwardScope() { context_.in_backward_ = previous_; }

 private:
  Context& context_;
  bool previous_;
};

// Memory that a context takes in this scope is held in the name of `label`.
class LabelScope : public HolderScope {
 public:
  LabelScope(Context& context, std::string_view label) : HolderScope(context.ledger(), label) {}
  LabelScope(Context& context, LabelTable::Id label) : HolderScope(context.ledger(), label) {}
};

}  // namespace frugal

#pragma once

#include <optional>
#include <vector>

#include "builders/dry_run/trial.h"
#include "builders/setup/dry_environment.h"
#include "sdk/data/data_source.h"
#include "sdk/memory/step_memory.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Plans and runs call by this who holds the data sets.
inline constexpr const char* kDataLabel = "data set";

// The batch sizes of each kind of step that the program runs, in order of first use.
struct PlannedStep {
  StepKind kind = StepKind::kTrain;
  std::int64_t batch = 0;
  std::int64_t times = 0;  // how often the program runs it, at most 2 (a second run finds the
                           // optimizer's state already there)
  bool operator==(const PlannedStep&) const = default;
};
std::vector<PlannedStep> StepsOf(const EpochSchedule& schedule);

// A training that runs dry from its beginning, step by step: what is live before a step is what
// would be live then.
class DryTraining {
 public:
  // Takes data sets, and the weights that are made at once. Names tell a plan who holds what.
  DryTraining(const TrainingSetup& setup, Trial trial,
              LabelTable::Keeps names = LabelTable::Keeps::kAll);

  // A step, `times` times over; the plan is that of the last time.
  StepPlan Run(StepKind kind, std::int64_t batch, std::int64_t times);
  // Runs a step in the same way, but returns only what it took and gave back.
  MemoryTrace Trace(StepKind kind, std::int64_t batch, std::int64_t times) {
    MemoryTrace trace;
    trace.Reserve(lifetimes_);
    TraceInto(trace, kind, batch, times);
    lifetimes_ = trace.lifetimes().size();
    return trace;
  }
  // Runs a step in the same way, and returns its memory block by block, with the places of the
  // `most_placed` largest ones of its arena.
  StepMemory Memory(StepKind kind, std::int64_t batch, std::int64_t times, std::size_t most_placed);
  // Runs a training step of so many samples in which nothing is updated before its end, counts how
  // often each parameter's gradient is added to, and updates by these counts from then on.
  const std::vector<std::int64_t>& CountContributions(std::int64_t batch);
  // Takes what a first step would leave behind it, where it would leave weights, gradients and the
  // optimizer's state alone, and returns true; gradients come where these counts are not 0, or
  // where there are none to all that train.
  bool TakeWhatStays(std::span<const std::int64_t> contributions);
  // Returns how often each parameter's gradient was added to in the last training step.
  std::vector<std::int64_t> Contributions();
  const MemoryLedger& ledger() { return environment_.ledger(); }
  // Keeps no names that come from here on.
  void KeepNoMoreNames() { environment_.ledger().labels().KeepNoMore(); }
  // Forgets the peaks of the steps before.
  void RestartPeaks() { environment_.ledger().RestartPeaks(); }
  // Counts what the last step paged.
  const PagingTraffic& paged() { return environment_.pager().step_traffic(); }
  // Sums up what the last part of a batch kept in the page file for its backward pass.
  std::int64_t PagedActivationBytes();
  // Returns what the steps that ran have paged; nothing where nothing is.
  std::optional<PagingPlan> Paging();
  // Takes the weights that this device holds, where they were not made at once.
  void MaterializeValues();

 private:
  // Returns the blocks that are live before the step's last run where the trace is a detailed one.
  std::vector<Holder> TraceInto(MemoryTrace& trace, StepKind kind, std::int64_t batch,
                                std::int64_t times);

  const TrainingSetup& setup_;
  Trial trial_;
  DryEnvironment environment_;
  BytesByTag baseline_;  // live before the last step
  std::vector<PartStorage> data_;
  Tensor staging_, kept_buffers_;  // of snapshots
  Tensor page_buffer_;
  std::vector<DataExchange> exchanges_;  // of the last step
  std::size_t lifetimes_ = 0;            // in the last trace
};

// `count` samples of a network's inputs.
VarTuple InputsOf(const NetworkInputs& inputs, std::int64_t count, DType dtype, Context& context);
// A batch of the network's inputs, or the largest part of one that goes through at a time.
VarTuple InputsOf(const TrainingSetup& setup, const Trial& trial, Context& context);

// Returns true where gradients can be used as soon as they are final, in the backward pass.
bool UpdatesInBackwardOf(const TrainingSetup& setup, const StepSettings& settings);
// Counts how often each parameter's gradient is added to in a training step, where gradients can be
// used as soon as they are final; else returns nothing. Depends on the network and on how a batch
// is split.
std::vector<std::int64_t> ContributionsFor(const TrainingSetup& setup, const Trial& trial);
// Counts the same for a device that sums its gradients with replicas; else returns nothing.
std::vector<std::int64_t> SummedContributionsFor(const TrainingSetup& setup, const Trial& trial);

}  // namespace frugal

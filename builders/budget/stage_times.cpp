#include "builders/budget/stage_times.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "sdk/core/slow_work.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

using std::int64_t;
using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 3;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ModelSeconds(const PassWork& work, double flops) {
  return work.flops / flops + work.bytes / kModelBandwidth;
}

struct Seconds {
  double forward = 1e30;
  double backward = 1e30;
};

// Memory straight from the system, and weights that are zero until they are asked for.
class RealEnvironment {
 public:
  explicit RealEnvironment(const TrainingSetup& setup)
      : memory_(ledger_, heap_, true),
        store_(memory_, ledger_, {.dtype = MasterType(setup.dtype()), .start_at_zero = true}),
        context_({.backend = *setup.backend,
                  .ledger = ledger_,
                  .step_memory = memory_,
                  .parameters = store_,
                  .dtype = setup.dtype()}) {
    context_.set_training(true);
  }
  Context& context() { return context_; }

 private:
  HeapAllocator heap_;
  MemoryLedger ledger_;
  TrackedAllocator memory_;
  ParameterStore store_;
  Context context_;
};

Tensor Filled(Context& context, const Shape& shape, DType type, double value) {
  const Tensor tensor = context.Allocate(shape, type);
  if (type == DType::kI64) {
    std::fill_n(tensor.data<std::int64_t>(), tensor.size(), 0);  // token 0
  } else {
    context.Launch({OperationKind::kData, BytesOf(tensor)},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(tensor, value); });
  }
  return tensor;
}

// Gradients of what comes out; empty where none is wanted.
std::vector<std::pair<int, Tensor>> SeedsOf(Context& context, const VarTuple& vars,
                                            const std::vector<int>& leaves) {
  std::map<int, Tensor> seeds;
  for (const Var& one : vars) {
    const bool handed_on = std::ranges::find(leaves, one.slot) != leaves.end();
    if (!one.needs_gradient() || handed_on || seeds.contains(one.slot)) continue;
    seeds[one.slot] = Filled(context, one.shape(), one.dtype(), 1);
  }
  return {seeds.begin(), seeds.end()};
}

void RunOnce(Context& context, const Stage& stage, const VarTuple& inputs, Seconds& shortest) {
  Tape tape;
  const TapeScope scope(context, &tape);
  context.parameters().ClearGradients();
  VarTuple vars = inputs;
  std::vector<int> leaves;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (stage.inputs[i].needs_gradient) leaves.push_back(vars[i].slot = tape.NewSlot());
  }
  auto start = Clock::now();
  if (stage.up_to_projection) {
    vars[0] = stage.layer->RunUpToProjection(context, std::exchange(vars[0], Var()));
  } else {
    (*stage.layer)(context, vars);
  }
  shortest.forward = std::min(shortest.forward, SecondsSince(start));
  auto seeds = SeedsOf(context, vars, leaves);
  if (seeds.empty()) return;
  vars.clear();
  start = Clock::now();
  for (auto& [slot, seed] : seeds) tape.Accumulate(context, slot, std::move(seed));
  tape.Backward(context);
  shortest.backward = std::min(shortest.backward, SecondsSince(start));
}

Seconds MeasureOne(const TrainingSetup& setup, const Stage& stage) {
  RealEnvironment environment(setup);
  VarTuple inputs;
  for (const StageInput& input : stage.inputs) {
    inputs.push_back({Filled(environment.context(), input.shape, input.dtype, 0.5)});
  }
  Seconds shortest;
  for (int i = 0; i <= kRepeats; ++i) {
    Seconds seconds;
    RunOnce(environment.context(), stage, inputs, seconds);
    if (i == 0) continue;  // primitives are made and pages touched
    shortest.forward = std::min(shortest.forward, seconds.forward);
    shortest.backward = std::min(shortest.backward, seconds.backward);
  }
  if (shortest.backward > 1e29) shortest.backward = 0;  // nothing to differentiate
  return shortest;
}

// Stages of one kind take the same time.
std::string KindOf(const Stage& stage) {
  std::string kind = stage.layer->Describe() + " " + std::to_string(stage.layer->ParameterCount()) +
                     (stage.up_to_projection ? " part" : "");
  for (const StageInput& input : stage.inputs) {
    kind += " " + ToString(input.shape) + (input.needs_gradient ? "" : " first");
  }
  return kind;
}

int64_t BytesToRun(const Stage& stage) {
  int64_t bytes = 0;
  for (const StageInput& input : stage.inputs) {
    bytes += input.shape.ElementCount() * SizeOf(input.dtype);
  }
  if (stage.layer != nullptr) {  // with their gradients
    for (const Parameter* parameter : stage.layer->Parameters()) {
      bytes += 2 * parameter->shape.ElementCount() * SizeOf(DType::kF32);
    }
  }
  const ChainStage& chain = stage.chain;
  return bytes + chain.saved_bytes +
         std::max(chain.forward_workspace, chain.output_bytes + chain.backward_workspace);
}

}  // namespace

int64_t BytesToRun(const std::vector<Stage>& stages) {
  int64_t most = 0;
  for (const Stage& stage : stages) most = std::max(most, BytesToRun(stage));
  return most;
}

void ModelTimes(DType dtype, std::vector<Stage>& stages) {
  const double flops = dtype == DType::kBF16 ? kModelFlopsBf16 : kModelFlops;
  for (Stage& stage : stages) {
    stage.chain.forward_seconds = ModelSeconds(stage.forward, flops);
    stage.chain.backward_seconds = ModelSeconds(stage.backward, flops);
  }
}

void MeasureTimes(const TrainingSetup& setup, std::vector<Stage>& stages) {
  std::map<std::string, Seconds> measured;
  SlowWork progress;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    if (stage.layer == nullptr) continue;
    const auto [found, is_new] = measured.try_emplace(KindOf(stage));
    if (is_new) {
      found->second = MeasureOne(setup, stage);
      ReturnFreeMemory();
    }
    stage.chain.forward_seconds = found->second.forward;
    stage.chain.backward_seconds = found->second.backward;
    progress.Tell([&] {
      return "planner_costs = \"measured\": stage " + std::to_string(i + 1) + " of " +
             std::to_string(stages.size());
    });
  }
}

}  // namespace frugal

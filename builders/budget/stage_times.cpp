#include "builders/budget/stage_times.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "sdk/core/slow_work.h"
#include "sdk/core/threads.h"
#include "sdk/memory/system_memory.h"
#include "sdk/memory/tensor_pool.h"
#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

using std::int64_t;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRepeats = 5;
constexpr double kInputValue = 0.5;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ModelSeconds(const PassWork& work, double flops) {
  return work.flops / flops + work.bytes / kModelBandwidth;
}

struct Seconds {
  double forward = 0;
  double ending = 0;    // forward, as the end of what runs again
  double backward = 0;  // 0 where there is nothing to differentiate
};

double MedianOf(std::array<double, kRepeats> values) {
  std::ranges::sort(values);
  return values[kRepeats / 2];
}

// Memory that is kept once the system gave it, as a training's is, and weights that are zero until
// they are asked for.
class RealEnvironment {
 public:
  // Blocks that nothing uses are kept up to so many bytes.
  RealEnvironment(const TrainingSetup& setup, int64_t idle_bytes)
      : pool_(heap_, {.max_idle_bytes = idle_bytes, .max_block_bytes = idle_bytes}),
        memory_(ledger_, pool_, true),
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
  TensorPool pool_;
  MemoryLedger ledger_;
  TrackedAllocator memory_;
  ParameterStore store_;
  Context context_;
};

void Fill(Context& context, const Tensor& tensor, double value) {
  if (tensor.dtype() == DType::kI64) {
    std::fill_n(tensor.data<std::int64_t>(), tensor.size(), 0);  // token 0
    return;
  }
  context.Launch({OperationKind::kData, BytesOf(tensor)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(tensor, value); });
}

Tensor Filled(Context& context, const Shape& shape, DType type, double value) {
  Tensor tensor = context.Allocate(shape, type);
  Fill(context, tensor, value);
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

// The stage's inputs on a tape, and the slots of those that want a gradient.
std::pair<VarTuple, std::vector<int>> LeavesOn(Tape& tape, const Stage& stage, VarTuple vars) {
  std::vector<int> leaves;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (stage.inputs[i].needs_gradient) leaves.push_back(vars[i].slot = tape.NewSlot());
  }
  return {std::move(vars), std::move(leaves)};
}

// Holds a stage that is measured, its inputs, and memory that stands for what runs between two of
// its passes.
struct MeasuredStage {
  const Stage& stage;
  TupleSegment run;
  VarTuple inputs;
  Tensor others;
};

// Puts other memory in the place of weights, and of what a backward pass reads, in the cores' own
// caches.
void RunOthers(Context& context, const MeasuredStage& measured) {
  if (!measured.others) return;
  context.Launch({OperationKind::kData, 2 * BytesOf(measured.others)},
                 [&](Backend& backend, void*) {
                   backend.elementwise().Scale(measured.others, 1, measured.others);
                 });
}

// A stage gets its input from the one that ran last.
void RunBefore(Context& context, const MeasuredStage& measured) {
  RunOthers(context, measured);
  for (const Var& input : measured.inputs) Fill(context, input.value, kInputValue);
}

double RunForward(Context& context, const MeasuredStage& measured, VarTuple& vars) {
  const auto start = Clock::now();
  measured.run(context, vars);
  return SecondsSince(start);
}

double RunEnding(Context& context, const MeasuredStage& measured) {
  RunBefore(context, measured);
  Tape tape;
  const TapeScope scope(context, &tape);
  const RecomputeScope again(context);
  VarTuple vars = LeavesOn(tape, measured.stage, measured.inputs).first;
  return RunForward(context, measured, vars);
}

Seconds RunOnce(Context& context, const MeasuredStage& measured, bool accumulates) {
  Seconds seconds{.ending = RunEnding(context, measured)};
  RunBefore(context, measured);
  Tape tape;
  const TapeScope scope(context, &tape);
  if (!accumulates) context.parameters().ClearGradients();
  auto [vars, leaves] = LeavesOn(tape, measured.stage, measured.inputs);
  seconds.forward = RunForward(context, measured, vars);
  RunOthers(context, measured);
  auto seeds = SeedsOf(context, vars, leaves);
  if (seeds.empty()) return seconds;
  vars.clear();
  const auto start = Clock::now();
  for (auto& [slot, seed] : seeds) tape.Accumulate(context, slot, std::move(seed));
  tape.Backward(context);
  seconds.backward = SecondsSince(start);
  return seconds;
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

Seconds MeasureOne(const TrainingSetup& setup, const Stage& stage, TupleSegment run,
                   int64_t others_bytes, bool accumulates) {
  // Blocks of all sizes that a pass takes are more than it holds at once: those that went back to
  // the system would be pages to touch anew at each run.
  RealEnvironment environment(setup, 2 * BytesToRun(stage));
  MeasuredStage measured{stage, std::move(run), {}, {}};
  for (const StageInput& input : stage.inputs) {
    measured.inputs.push_back(
        {Filled(environment.context(), input.shape, input.dtype, kInputValue)});
  }
  if (const int64_t count = others_bytes / SizeOf(DType::kF32); count > 0) {
    measured.others = Filled(environment.context(), {count}, DType::kF32, 0);
  }
  RunOnce(environment.context(), measured, false);  // primitives are made and pages touched
  std::array<double, kRepeats> forward{}, ending{}, backward{};
  for (std::size_t i = 0; i < kRepeats; ++i) {
    const Seconds seconds = RunOnce(environment.context(), measured, accumulates);
    forward.at(i) = seconds.forward;
    ending.at(i) = std::min(seconds.ending, seconds.forward);
    backward.at(i) = seconds.backward;
  }
  return {MedianOf(forward), MedianOf(ending), MedianOf(backward)};
}

// Stages of one kind take the same time.
std::string KindOf(const Stage& stage) {
  if (stage.layer == nullptr) return "loss";
  std::string kind = stage.layer->Describe() + " " + std::to_string(stage.layer->ParameterCount()) +
                     (stage.up_to_projection ? " part" : "");
  for (const StageInput& input : stage.inputs) {
    kind += " " + ToString(input.shape) + (input.needs_gradient ? "" : " first");
  }
  return kind;
}

// An update of one parameter of so many elements.
double MeasureUpdateOf(const TrainingSetup& setup, int64_t elements) {
  Parameter parameter{
      .name = "weight", .path = "weight", .shape = {elements}, .initializer = Initializer::Zero()};
  Parameter* const all[] = {&parameter};
  RealEnvironment environment(setup, 0);
  Context& context = environment.context();
  const auto update = [&] {
    const GradientTarget gradient = context.parameters().GradientFor(parameter);
    context.Launch({OperationKind::kData, gradient.tensor.bytes()}, [&](Backend& backend, void*) {
      backend.elementwise().Fill(gradient.tensor, 1e-3);
    });
    const auto start = Clock::now();
    setup.optimizer->Step(context, all);
    return SecondsSince(start);
  };
  update();
  std::array<double, kRepeats> seconds{};
  for (double& one : seconds) one = update();
  return MedianOf(seconds);
}

}  // namespace

int64_t BytesToRun(const std::vector<Stage>& stages) {
  int64_t most = 0;
  for (const Stage& stage : stages) most = std::max(most, BytesToRun(stage));
  return most;
}

int64_t OthersBytes(const std::vector<Stage>& stages, int64_t most_bytes) {
  double moved = 0;
  for (const Stage& stage : stages) moved += stage.forward.bytes;
  // Twice, since what is older may stay longer.
  const int64_t caches = 2 * OwnCacheBytes() * MostThreads();
  const int64_t bytes = static_cast<int64_t>(std::min(moved, static_cast<double>(caches)));
  return std::clamp<int64_t>(most_bytes - BytesToRun(stages), 0, bytes);
}

void ModelTimes(DType dtype, std::vector<Stage>& stages) {
  const double flops = dtype == DType::kBF16 ? kModelFlopsBf16 : kModelFlops;
  for (Stage& stage : stages) {
    stage.chain.forward_seconds = ModelSeconds(stage.forward, flops);
    stage.chain.backward_seconds = ModelSeconds(stage.backward, flops);
    stage.chain.ending_seconds = ModelSeconds(stage.ending, flops);
  }
}

void MeasureTimes(const TrainingSetup& setup, const Trial& trial, bool accumulates,
                  int64_t most_bytes, std::vector<Stage>& stages) {
  const int64_t others = OthersBytes(stages, most_bytes);
  std::map<std::string, Seconds> measured;
  SlowWork progress;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    const auto [found, is_new] = measured.try_emplace(KindOf(stage));
    if (is_new) {
      found->second = MeasureOne(setup, stage, RunOf(setup, trial, stage), others, accumulates);
      ReturnFreeMemory();
    }
    stage.chain.forward_seconds = found->second.forward;
    stage.chain.backward_seconds = found->second.backward;
    stage.chain.ending_seconds =
        stage.layer != nullptr ? found->second.ending : found->second.forward;
    progress.Tell([&] {
      return "planner_costs = \"measured\": stage " + std::to_string(i + 1) + " of " +
             std::to_string(stages.size());
    });
  }
}

void CopyTimes(const std::vector<Stage>& from, std::vector<Stage>& to) {
  ExtrapolateTimes({}, {1, from}, 1, to);
}

void ExtrapolateTimes(const SampledStages& few, const SampledStages& more, int64_t samples,
                      std::vector<Stage>& to) {
  const auto beyond = static_cast<double>(samples - more.samples);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto take = [&](double ChainStage::*seconds) {
      const double known = more.stages[i].chain.*seconds;
      const double average = known / static_cast<double>(more.samples);
      double each = average;
      if (!few.stages.empty() && few.samples < more.samples) {
        const double longer = known - few.stages[i].chain.*seconds;
        each = std::clamp(longer / static_cast<double>(more.samples - few.samples), average / 2,
                          average);
      }
      to[i].chain.*seconds = known + each * beyond;
    };
    take(&ChainStage::forward_seconds);
    take(&ChainStage::ending_seconds);
    take(&ChainStage::backward_seconds);
  }
}

double MeasureUpdateSeconds(const TrainingSetup& setup, int64_t most_bytes) {
  constexpr int64_t kManyElements = int64_t{1} << 24;  // no cache holds them
  constexpr int64_t kTensors = 4;                      // a value, its gradient and two states
  const int64_t element_bytes = SizeOf(MasterType(setup.dtype()));
  const int64_t most_elements =
      std::clamp<int64_t>(most_bytes / (2 * kTensors * element_bytes), 1, kManyElements);
  int64_t elements = 0;
  for (const Parameter* parameter : setup.parameters) {
    if (parameter->trainable) elements += parameter->shape.ElementCount();
  }
  if (elements == 0) return 0;
  const int64_t measured = std::min(elements, most_elements);
  const double seconds = MeasureUpdateOf(setup, measured);
  ReturnFreeMemory();
  return seconds * static_cast<double>(elements) / static_cast<double>(measured);
}

}  // namespace frugal

#include "builders/budget/stage_bytes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <typeinfo>
#include <utility>

#include "builders/budget/footprint.h"
#include "builders/dry_run/dry_training.h"
#include "sdk/autograd/checkpoint.h"
#include "sdk/autograd/remat.h"
#include "sdk/memory/recording.h"

namespace frugal {
namespace {

using std::int64_t;
using Run = TupleSegment;

// Returns what the step's memory held after each event of a trace.
std::vector<int64_t> LiveInArena(const MemoryTrace& trace) {
  std::vector<int64_t> live(static_cast<std::size_t>(trace.event_count()), 0);
  for (const Lifetime& life : trace.lifetimes()) {
    if (!life.in_arena) continue;
    live[static_cast<std::size_t>(life.begin)] += life.bytes;
    if (life.end != kStillLive) live[static_cast<std::size_t>(life.end)] -= life.bytes;
  }
  for (std::size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  return live;
}

// Bytes written in events [begin, end): each block once, and read again once.
double Touched(const MemoryTrace& trace, int64_t begin, int64_t end) {
  double bytes = 0;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.begin < begin || life.begin >= end) continue;
    bytes += 2 * static_cast<double>(life.times) * static_cast<double>(life.bytes);
  }
  return bytes;
}

int64_t Most(const std::vector<int64_t>& live, int64_t begin, int64_t end) {
  int64_t most = 0;
  for (int64_t i = begin; i < end; ++i) most = std::max(most, live[static_cast<std::size_t>(i)]);
  return most;
}

// A pass on a tape of its own that is recorded, and whose work is counted from here on.
struct TapedPass {
  explicit TapedPass(Context& context) : recording(context.ledger(), trace), scope(context, &tape) {
    context.profile() = {};
  }
  MemoryTrace trace;
  RecordingScope recording;
  Tape tape;
  TapeScope scope;
};

// One stage in an environment of its own, so that all it takes is its own.
class StageRun {
 public:
  // `own_gradients`: gradients of parameters come and go with the stage.
  StageRun(const TrainingSetup& setup, Run run, const Stage& stage, bool own_gradients)
      : environment_(*setup.backend, setup.dtype(), {.step_gradients = own_gradients}),
        run_(std::move(run)) {
    environment_.context().set_training(true);
    for (const StageInput& input : stage.inputs) {
      inputs_.push_back({.value = environment_.context().Allocate(input.shape, input.dtype),
                         .is_skip = input.is_skip});
    }
  }

  // Forward without a tape; weights are there afterwards.
  void Plain(ChainStage& chain) {
    MemoryTrace trace;
    {
      const RecordingScope recording(environment_.ledger(), trace);
      VarTuple vars = inputs_;
      run_(environment_.context(), vars);
      chain.output_bytes = NewBytes(vars);
    }
    const int64_t most = Most(LiveInArena(trace), 0, trace.event_count());
    chain.plain_workspace = std::max<int64_t>(0, most - chain.output_bytes);
  }

  // Forward on a tape, as the end of what runs again.
  void Ending(Stage& stage) {
    TapedPass pass(environment_.context());
    VarTuple vars = OnTape(pass.tape, stage);
    {
      const RecomputeScope again(environment_.context());
      run_(environment_.context(), vars);
    }
    const int64_t end = pass.trace.event_count();
    const std::vector<int64_t> live = LiveInArena(pass.trace);
    const int64_t saved = live.empty() ? 0 : live.back();
    stage.chain.ending_workspace = Most(live, 0, end) - saved;
    stage.ending = {environment_.context().profile().flops,
                    InputBytes() + Touched(pass.trace, 0, end)};
  }

  // Forward on a tape, and back, of stage number `place`. Returns what goes on to the next stage.
  std::vector<StageInput> Taped(Stage& stage, std::size_t place) {
    Context& context = environment_.context();
    TapedPass pass(context);
    VarTuple vars = OnTape(pass.tape, stage);
    run_(context, vars);
    const int64_t turn = pass.trace.event_count();
    stage.forward = {context.profile().flops, InputBytes() + Touched(pass.trace, 0, turn)};
    std::vector<StageInput> next;
    for (const Var& one : vars) {
      const auto input = InputOf(one);
      const std::size_t maker = input ? stage.inputs[*input].maker : place;
      const auto sums = one.remat ? std::optional(one.remat->sums()) : std::nullopt;
      next.push_back({one.shape(), one.dtype(), one.needs_gradient(), one.is_skip, maker, sums});
    }
    stage.taken = Taken(stage, place, vars);
    stage.chain.rematerialized_bytes = RematerializedBytes(vars);
    SeedNew(context, pass.tape, std::move(vars));
    pass.tape.Backward(context);
    Fill(pass.trace, turn, stage);
    stage.backward.flops = context.profile().flops - stage.forward.flops;
    return next;
  }

  // Finds what of the output is rematerialized where a row of sums begins with this stage.
  void AtBeginOfRow(Stage& stage) {
    ChainStage& chain = stage.chain;
    chain.most_rematerialized_bytes = chain.rematerialized_bytes;
    if (chain.rematerialized_bytes > 0 || !IsBehindSums(stage)) return;
    TapedPass pass(environment_.context());
    VarTuple vars = OnTape(pass.tape, stage);
    for (Var& one : vars) one.remat = nullptr;
    run_(environment_.context(), vars);
    chain.most_rematerialized_bytes = RematerializedBytes(vars);
  }

 private:
  VarTuple OnTape(Tape& tape, const Stage& stage) const {
    VarTuple vars = inputs_;
    for (std::size_t i = 0; i < vars.size(); ++i) {
      const StageInput& input = stage.inputs[i];
      if (input.needs_gradient) vars[i].slot = tape.NewSlot();
      if (!input.rematerialized_sums) continue;
      vars[i].remat = std::make_shared<Remat>([value = vars[i].value](Context&) { return value; },
                                              *input.rematerialized_sums);
    }
    return vars;
  }
  static bool IsBehindSums(const Stage& stage) {
    return std::ranges::any_of(stage.inputs, [](const StageInput& input) {
      return input.rematerialized_sums.value_or(0) > 0;
    });
  }
  // Stages work on the first variable; skips are held by whoever takes them.
  int64_t RematerializedBytes(const VarTuple& vars) const {
    const Var& first = vars.front();
    if (!first.remat || IsInput(first)) return 0;
    const bool is_held = std::ranges::any_of(
        vars, [&](const Var& one) { return one.is_skip && one.value.raw() == first.value.raw(); });
    return is_held ? 0 : first.value.bytes();
  }
  double InputBytes() const {
    double bytes = 0;
    for (const Var& one : inputs_) bytes += static_cast<double>(one.value.bytes());
    return bytes;
  }
  // Returns which input this is, if it is one.
  std::optional<std::size_t> InputOf(const Var& one) const {
    const auto same = [&](const Var& input) { return input.value.raw() == one.value.raw(); };
    const auto found = std::ranges::find_if(inputs_, same);
    if (found == inputs_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - inputs_.begin());
  }
  bool IsInput(const Var& one) const { return InputOf(one).has_value(); }

  // Returns the skips that came in and do not go out, unless the stage before made it.
  std::vector<SkipConnection> Taken(const Stage& stage, std::size_t place,
                                    const VarTuple& vars) const {
    std::vector<SkipConnection> taken;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::size_t maker = stage.inputs[i].maker;
      const bool stays = std::ranges::any_of(
          vars, [&](const Var& one) { return one.is_skip && InputOf(one) == i; });
      if (!inputs_[i].is_skip || stays || maker + 2 > place) continue;
      taken.push_back({maker, place, inputs_[i].value.bytes()});
    }
    return taken;
  }

  // Returns the bytes of what comes out beside what is handed on, each tensor once.
  int64_t NewBytes(const VarTuple& vars) const {
    std::map<const void*, int64_t> made;
    for (const Var& one : vars) {
      if (!IsInput(one)) made[one.value.raw()] = one.value.bytes();
    }
    int64_t bytes = 0;
    for (const auto& [raw, count] : made) bytes += count;
    return bytes;
  }

  // Gradients of the outputs as the next stages leave them, once the outputs are gone.
  void SeedNew(Context& context, Tape& tape, VarTuple vars) const {
    std::map<int, std::pair<Shape, DType>> seeds;
    for (const Var& one : vars) {
      if (one.needs_gradient() && !IsInput(one)) seeds[one.slot] = {one.shape(), one.dtype()};
    }
    std::vector<std::pair<int, Tensor>> gradients;
    for (const auto& [slot, kind] : seeds) {
      gradients.emplace_back(slot, context.Allocate(kind.first, kind.second));
    }
    vars.clear();
    for (auto& [slot, gradient] : gradients) tape.Accumulate(context, slot, std::move(gradient));
  }

  static void Fill(const MemoryTrace& trace, int64_t turn, Stage& stage) {
    ChainStage& chain = stage.chain;
    const std::vector<int64_t> live = LiveInArena(trace);
    chain.saved_bytes = turn > 0 ? live[static_cast<std::size_t>(turn) - 1] : 0;
    chain.forward_workspace = Most(live, 0, turn) - chain.saved_bytes;
    const int64_t most = Most(live, turn, trace.event_count());
    chain.backward_workspace = std::max<int64_t>(0, most - KeptBytes(chain) - chain.output_bytes);
    stage.backward.bytes =
        static_cast<double>(chain.saved_bytes) + Touched(trace, turn, trace.event_count());
  }

  DryEnvironment environment_;
  Run run_;
  VarTuple inputs_;
};

int64_t PartOfBatch(const Trial& trial) {
  return MicroBatchSize(trial.schedule.batch, trial.settings.micro_batches, 0);
}

void Clear(Context& context, const Tensor& tensor) {
  if (!tensor) return;
  context.Launch({OperationKind::kData, tensor.bytes()}, [&](Backend&, void*) {
    std::memset(tensor.raw(), 0, static_cast<std::size_t>(tensor.bytes()));
  });
}

// Targets that every loss takes: the first class, or zero.
Batch ClearedTargets(Context& context, const StepParts& parts, int64_t samples) {
  Batch batch = AllocateTargets(context, parts, samples);
  Clear(context, batch.targets);
  Clear(context, batch.weights);
  for (const Tensor& one : batch.more_targets) Clear(context, one);
  return batch;
}

// Returns true where the gradients of these parameters are freed as soon as their stage is through.
// Those that add up over the parts of a batch, or that other stages add to, are there throughout,
// which is the same for every schedule: a chain leaves them out.
bool FreesGradients(const Trial& trial, const std::vector<const Parameter*>& parameters) {
  if (!trial.updates_in_backward() || trial.settings.micro_batches > 1) return false;
  return std::ranges::all_of(parameters, [&](const Parameter* parameter) {
    return trial.final_after[parameter->index] <= 1;
  });
}

std::vector<const Parameter*> ParametersOf(Layer& layer) {
  const std::vector<Parameter*> all = layer.Parameters();
  return {all.begin(), all.end()};
}

std::vector<const Parameter*> ParametersOfLoss(const StepParts& parts) {
  const auto projection = ProjectionForLoss(parts);
  if (!projection) return {};
  return {projection->weight};
}

// Says how a module is made: its type and description, and those of the modules inside.
void AddKind(const Module& module, std::string& kind) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  kind += std::string(typeid(module).name()) + " " + (layer != nullptr ? layer->Describe() : "");
  for (const Module::Child& child : module.children()) {
    kind += " (";
    AddKind(*child.module, kind);
    kind += ")";
  }
}

std::string SumsText(const StageInput& input) {
  return input.rematerialized_sums ? " " + std::to_string(*input.rematerialized_sums) : "";
}

// Stages of one kind, with one input that is no skip, take the same.
std::string KindOf(const Stage& stage, bool own_gradients) {
  const StageInput& input = stage.inputs.front();
  std::string kind = ToString(input.shape) + std::string(NameOf(input.dtype)) +
                     (input.needs_gradient ? "" : " first") + SumsText(input) +
                     (own_gradients ? " own" : "") + (stage.up_to_projection ? " part" : "");
  for (const Parameter* parameter : stage.layer->Parameters()) {
    kind += " " + ToString(parameter->shape) + (parameter->trainable ? "" : " fixed");
  }
  AddKind(*stage.layer, kind);
  return kind;
}

std::vector<StageInput> FirstInputs(const TrainingSetup& setup, const Trial& trial) {
  DryEnvironment environment(*setup.backend, setup.dtype());
  std::vector<StageInput> inputs;
  for (const Var& one : InputsOf(setup, trial, environment.context())) {
    inputs.push_back({one.shape(), one.dtype(), false});
  }
  return inputs;
}

void MeasureLoss(const TrainingSetup& setup, const Trial& trial, Stage& stage) {
  const StepParts parts = StepPartsOf(setup, trial);
  const bool own_gradients = FreesGradients(trial, ParametersOfLoss(parts));
  StageRun measured(setup, RunOf(setup, trial, stage), stage, own_gradients);
  measured.Plain(stage.chain);
  measured.Taped(stage, setup.network->Leaves().size());
  stage.chain.ending_workspace = stage.chain.forward_workspace;  // it never runs again
  stage.ending = stage.forward;
}

}  // namespace

TupleSegment RunOf(const TrainingSetup& setup, const Trial& trial, const Stage& stage) {
  if (stage.layer == nullptr) {
    return [&setup, &trial](Context& context, VarTuple& vars) {
      const StepParts parts = StepPartsOf(setup, trial);
      const VarTuple outputs = OutputsAmong(parts, std::exchange(vars, {}));
      const Batch batch = ClearedTargets(context, parts, PartOfBatch(trial));
      vars = {RunLoss(context, parts, outputs, batch).loss};
    };
  }
  return [&layer = *stage.layer, part = stage.up_to_projection](Context& context, VarTuple& vars) {
    if (!part) return layer(context, vars);
    vars[0] = layer.RunUpToProjection(context, std::exchange(vars[0], Var()));
  };
}

std::vector<Stage> MeasureStages(const TrainingSetup& setup, const Trial& trial) {
  struct Measured {
    Stage stage;
    std::vector<StageInput> next;
  };
  // A kind may leave out what tells two layers apart, so it is only asked where layers are many.
  const bool by_kinds = HasManyLayers(setup);
  std::map<std::string, Measured> kinds;
  const bool loss_projects = ProjectionForLoss(StepPartsOf(setup, trial)).has_value();
  const std::vector<Layer*> leaves = setup.network->Leaves();
  std::vector<Stage> stages(leaves.size() + 1);
  std::vector<StageInput> inputs = FirstInputs(setup, trial);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    stage.inputs = std::move(inputs);
    if (i == leaves.size()) break;
    stage.layer = leaves[i];
    stage.up_to_projection = loss_projects && i + 1 == leaves.size();
    const bool own_gradients = FreesGradients(trial, ParametersOf(*stage.layer));
    const bool has_kind = by_kinds && stage.inputs.size() == 1 && !stage.inputs.front().is_skip;
    const std::string kind = has_kind ? KindOf(stage, own_gradients) : "";
    if (const auto known = kinds.find(kind); known != kinds.end()) {
      stage.chain = known->second.stage.chain;
      stage.forward = known->second.stage.forward;
      stage.ending = known->second.stage.ending;
      stage.backward = known->second.stage.backward;
      inputs = known->second.next;
      inputs.front().maker = i;
      continue;
    }
    StageRun measured(setup, RunOf(setup, trial, stage), stage, own_gradients);
    measured.Plain(stage.chain);
    measured.Ending(stage);
    inputs = measured.Taped(stage, i);
    measured.AtBeginOfRow(stage);
    const bool is_plain = inputs.size() == 1 && !inputs.front().is_skip && inputs[0].maker == i;
    if (has_kind && is_plain) kinds[kind] = {stage, inputs};
  }
  MeasureLoss(setup, trial, stages.back());
  return stages;
}

Chain ChainOf(const std::vector<Stage>& stages) {
  Chain chain;
  for (const Stage& stage : stages) {
    chain.stages.push_back(stage.chain);
    chain.carried.insert(chain.carried.end(), stage.taken.begin(), stage.taken.end());
  }
  return chain;
}

}  // namespace frugal

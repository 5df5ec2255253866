#include "builders/budget/stage_bytes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <typeinfo>
#include <utility>

#include "builders/budget/footprint.h"
#include "builders/budget/stage_run.h"
#include "builders/dry_run/dry_training.h"

namespace frugal {
namespace {

using std::int64_t;

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

// Returns Trial::final_after where the gradients of these parameters are freed in their stage.
// Those that add up over the parts of a batch, or that other stages add to, are there throughout,
// which is the same for every schedule: a chain leaves them out.
std::span<const int64_t> FreedAfter(const Trial& trial,
                                    const std::vector<const Parameter*>& parameters) {
  if (!trial.updates_in_backward() || trial.settings.micro_batches > 1) return {};
  const bool are_own = std::ranges::all_of(parameters, [&](const Parameter* parameter) {
    return trial.final_after[parameter->index] <= 1;
  });
  return are_own ? trial.final_after : std::span<const int64_t>();
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

std::string RowsText(const Stage& stage) {
  std::string text;
  for (const RowBefore& row : stage.rows) {
    text += stage.inputs.front().row == row ? " of " : " or ";
    text += std::to_string(row.sums) + "/" + std::to_string(row.bytes);
    text += row.is_read_by_maker ? " held" : "";
  }
  return text;
}

// Stages of one kind, with one input that is no skip, take the same.
std::string KindOf(const Stage& stage, bool own_gradients) {
  const StageInput& input = stage.inputs.front();
  std::string kind = ToString(input.shape) + std::string(NameOf(input.dtype)) +
                     (input.needs_gradient ? "" : " first") + (input.is_last_held ? " last" : "") +
                     RowsText(stage) + (own_gradients ? " own" : "") +
                     (stage.up_to_projection ? " part" : "");
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

struct NextStage {
  std::vector<StageInput> inputs;
  std::vector<RowBefore> rows;
};

// Rows that are told apart; of what is made again one from the other, as many layers deep as there
// are, the last stands for all further ones.
constexpr std::size_t kMostRows = 12;

// Measures a stage for each row that its first input can be in. Work, and what goes on to the next
// stage, are those where no segment is before it.
template <class Taped>
NextStage MeasureByRow(Stage& stage, const Taped& taped) {
  NextStage next;
  const auto measure = [&](Stage& one, const StageRun::Row& row) {
    std::vector<StageInput> inputs = taped(one, row);
    one.chain.output_state = 0;
    if (const StageRun::Row& behind = inputs.front().row) {
      const auto known = std::ranges::find(next.rows, *behind) - next.rows.begin();
      const bool is_new = known == std::ssize(next.rows) && next.rows.size() < kMostRows;
      if (is_new) next.rows.push_back(*behind);
      one.chain.output_state = std::min<RematState>(static_cast<std::size_t>(known) + 1, kMostRows);
    }
    return inputs;
  };
  next.inputs = measure(stage, std::nullopt);
  for (const RowBefore& row : stage.rows) {
    Stage other = stage;
    std::vector<StageInput> behind = measure(other, row);
    next.inputs.front().is_last_held &= behind.front().is_last_held;
    behind.front().is_last_held = next.inputs.front().is_last_held;
    stage.chain.by_input_state.push_back(TapedBytesOf(other.chain, 0));
    stage.reads_input |= other.reads_input;
    if (stage.inputs.front().row != row) continue;
    stage.forward = other.forward;
    stage.ending = other.ending;
    stage.backward = other.backward;
    next.inputs = std::move(behind);
  }
  return next;
}

int64_t TargetBytes(const TrainingSetup& setup, const Trial& trial, const StepParts& parts) {
  DryEnvironment environment(*setup.backend, setup.dtype());
  const Batch batch = AllocateTargets(environment.context(), parts, PartOfBatch(trial));
  return environment.ledger().live_total();
}

void MeasureLoss(const TrainingSetup& setup, const Trial& trial, Stage& stage) {
  const StepParts parts = StepPartsOf(setup, trial);
  const auto freed_after = FreedAfter(trial, ParametersOfLoss(parts));
  StageRun measured(setup, RunOf(setup, trial, stage), stage, freed_after);
  measured.Plain(stage.chain);
  stage.target_bytes = TargetBytes(setup, trial, parts);
  const std::size_t place = setup.network->Leaves().size();
  MeasureByRow(stage, [&](Stage& one, const StageRun::Row& row) {
    std::vector<StageInput> none = measured.Taped(one, place, row);
    one.chain.ending_workspace = one.chain.forward_workspace;  // it never runs again
    one.chain.ending_backward_workspace = one.chain.backward_workspace;
    one.ending = one.forward;
    return none;
  });
}

bool IsRematerialized(const Stage& stage) {
  const auto is_some = [](const auto& bytes) { return bytes.rematerialized_bytes > 0; };
  return is_some(stage.chain) || std::ranges::any_of(stage.chain.by_input_state, is_some);
}

// Measures backward passes again whose stage's output no stage behind reads: they were taken to
// find it made.
void MeasureUnread(const TrainingSetup& setup, const Trial& trial, std::vector<Stage>& stages) {
  bool is_read = true;
  for (std::size_t i = stages.size(); i-- > 0;) {
    Stage& stage = stages[i];
    if (!is_read && IsRematerialized(stage)) {
      StageRun run(setup, RunOf(setup, trial, stage), stage,
                   FreedAfter(trial, ParametersOf(*stage.layer)));
      stage.reads_input = false;
      const auto backward = [&](const StageRun::Row& row) {
        Stage unread = stage;
        run.Taped(unread, i, row, false);
        stage.reads_input |= unread.reads_input;
        return unread.chain.backward_workspace;
      };
      stage.chain.backward_workspace = backward(std::nullopt);
      for (std::size_t row = 0; row < stage.rows.size(); ++row) {
        stage.chain.by_input_state[row].backward_workspace = backward(stage.rows[row]);
      }
    }
    is_read = stage.reads_input || (stage.hands_on && is_read);
  }
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
    NextStage next;
  };
  // A kind may leave out what tells two layers apart, so it is only asked where layers are many.
  const bool by_kinds = HasManyLayers(setup);
  std::map<std::string, Measured> kinds;
  const bool loss_projects = ProjectionForLoss(StepPartsOf(setup, trial)).has_value();
  const std::vector<Layer*> leaves = setup.network->Leaves();
  std::vector<Stage> stages(leaves.size() + 1);
  NextStage next{FirstInputs(setup, trial), {}};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    stage.inputs = std::move(next.inputs);
    stage.rows = std::move(next.rows);
    if (i == leaves.size()) break;
    stage.layer = leaves[i];
    stage.up_to_projection = loss_projects && i + 1 == leaves.size();
    const auto freed_after = FreedAfter(trial, ParametersOf(*stage.layer));
    const bool has_kind = by_kinds && stage.inputs.size() == 1 && !stage.inputs.front().is_skip;
    const std::string kind = has_kind ? KindOf(stage, !freed_after.empty()) : "";
    if (const auto known = kinds.find(kind); known != kinds.end()) {
      const Stage& alike = known->second.stage;
      stage.chain = alike.chain;
      stage.reads_input = alike.reads_input;
      stage.hands_on = alike.hands_on;
      stage.forward = alike.forward;
      stage.ending = alike.ending;
      stage.backward = alike.backward;
      next = known->second.next;
      next.inputs.front().maker = i;
      continue;
    }
    StageRun measured(setup, RunOf(setup, trial, stage), stage, freed_after);
    measured.Plain(stage.chain);
    next = MeasureByRow(stage, [&](Stage& one, const StageRun::Row& row) {
      std::vector<StageInput> behind = measured.Taped(one, i, row);
      measured.Ending(one, row);
      return behind;
    });
    const StageInput& first = next.inputs.front();
    const bool is_plain = next.inputs.size() == 1 && !first.is_skip && first.maker == i;
    if (has_kind && is_plain) kinds[kind] = {stage, next};
  }
  MeasureLoss(setup, trial, stages.back());
  MeasureUnread(setup, trial, stages);
  return stages;
}

Chain ChainOf(const std::vector<Stage>& stages) {
  Chain chain;
  for (const Stage& stage : stages) {
    chain.stages.push_back(stage.chain);
    chain.carried.insert(chain.carried.end(), stage.taken.begin(), stage.taken.end());
    chain.waiting_bytes += stage.target_bytes;
  }
  return chain;
}

}  // namespace frugal

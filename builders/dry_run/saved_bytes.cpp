#include "builders/dry_run/saved_bytes.h"

#include "builders/dry_run/dry_training.h"
#include "builders/setup/dry_environment.h"
#include "sdk/memory/recording.h"
#include "sdk/module/network_input.h"

namespace frugal {

SavedBytes SavedBytesIn(const MemoryTrace& trace, const LabelTable& labels) {
  std::map<LabelTable::Id, std::int64_t> by_label;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.end == kStillLive && life.in_arena) by_label[life.label] += life.bytes;
  }
  SavedBytes kept;
  for (const auto& [label, bytes] : by_label) {
    std::string path = labels.NameOf(label);
    for (;; path.resize(path.rfind('.'))) {
      kept[path] += bytes;
      if (path.find('.') == std::string::npos) break;
    }
  }
  return kept;
}

SavedBytes MeasureSavedBytes(const TrainingSetup& setup, const Trial& trial) {
  return RunLayerPasses(setup, trial).saved;
}

LayerPasses RunLayerPasses(const TrainingSetup& setup, const Trial& trial) {
  DryEnvironment environment(*setup.backend, setup.dtype());
  Context& context = environment.context();
  context.set_training(true);
  LayerPasses passes;
  passes.outputs.reserve(setup.network->size());
  MemoryTrace trace;
  const RecordingScope recording(environment.ledger(), trace);
  Tape tape;
  const TapeScope scope(context, setup.trains() ? &tape : nullptr);
  const Sequential& network = *setup.network;
  {
    VarTuple vars = InputsOf(setup, trial, context);
    if (!network.inputs().empty()) CheckInputs(network.path(), network.inputs(), vars);
    for (std::size_t i = 0; i < network.size(); ++i) {
      network.layer(i)(context, vars);
      passes.outputs.push_back(vars[0].shape());
    }
  }
  if (setup.trains()) passes.saved = SavedBytesIn(trace, environment.ledger().labels());
  return passes;
}

void SetPolicySegments(const TrainingSetup& setup, const StepSettings& settings,
                       const SavedBytes& kept, const std::optional<CheckpointOptions>& other) {
  CheckpointOptions options = other.value_or(CheckpointOptionsOf(setup.config.memory));
  options.enabled = settings.use_gradient_checkpointing;
  SetCheckpointSegments(*setup.network, options, kept);
}

}  // namespace frugal

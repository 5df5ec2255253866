#include "builders/dry_run/saved_bytes.h"

#include "builders/dry_run/dry_training.h"
#include "builders/setup/dry_environment.h"
#include "sdk/memory/recording.h"

namespace frugal {

SavedBytes SavedBytesIn(const MemoryTrace& trace, const LabelTable& labels) {
  SavedBytes kept;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.end != kStillLive || !life.in_arena) continue;
    std::string path = labels.NameOf(life.label);
    for (;; path.resize(path.rfind('.'))) {
      kept[path] += life.bytes;
      if (path.find('.') == std::string::npos) break;
    }
  }
  return kept;
}

SavedBytes MeasureSavedBytes(const TrainingSetup& setup, const Trial& trial) {
  DryEnvironment environment(*setup.backend, setup.dtype());
  Context& context = environment.context();
  context.set_training(true);
  MemoryTrace trace;
  const RecordingScope recording(environment.ledger(), trace);
  Tape tape;
  const TapeScope scope(context, &tape);
  {
    VarTuple vars = InputsOf(setup, trial, context);
    (*setup.network)(context, vars);
  }
  return SavedBytesIn(trace, environment.ledger().labels());
}

void SetPolicySegments(const TrainingSetup& setup, const StepSettings& settings,
                       const SavedBytes& kept, const std::optional<CheckpointOptions>& other) {
  CheckpointOptions options = other.value_or(CheckpointOptionsOf(setup.config.memory));
  options.enabled = settings.use_gradient_checkpointing;
  SetCheckpointSegments(*setup.network, options, kept);
}

}  // namespace frugal

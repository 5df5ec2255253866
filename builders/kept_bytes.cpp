#include "builders/kept_bytes.h"

#include "builders/dry_training.h"
#include "builders/dry_world.h"
#include "sdk/memory/recording.h"

namespace frugal {

KeptBytes MeasureKept(const Blueprint& blueprint) {
  DryWorld world(*blueprint.backend, blueprint.dtype());
  Context& context = world.context();
  context.set_training(true);
  MemoryTrace trace;
  const RecordingScope recording(world.ledger(), trace);
  Tape tape;
  const TapeScope scope(context, &tape);
  {
    Bundle bundle = InputsOf(blueprint, context);
    (*blueprint.network)(context, bundle);
  }
  KeptBytes kept;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.end != kStillLive || !life.in_arena) continue;
    std::string path = world.ledger().labels().NameOf(life.label);
    for (;; path.resize(path.rfind('.'))) {
      kept[path] += life.bytes;
      if (path.find('.') == std::string::npos) break;
    }
  }
  return kept;
}

void SetPolicySegments(Blueprint& blueprint, const KeptBytes& kept) {
  const TrainingMemoryConfig& memory = blueprint.config.memory;
  SetCheckpointSegments(*blueprint.network,
                        {.enabled = memory.use_gradient_checkpointing,
                         .every_n_layers = memory.checkpoint_every_n_layers,
                         .attention_layers = memory.checkpoint_attention_layers,
                         .residual_blocks = memory.checkpoint_residual_blocks,
                         .kept_bytes_threshold = memory.high_activation_memory_threshold_bytes},
                        kept);
}

}  // namespace frugal

#include "builders/setup/snapshot_staging.h"

namespace frugal {
namespace {

std::int64_t BytesOf(const StateForm& form) {
  return form.shape.ElementCount() * SizeOf(form.dtype);
}

}  // namespace

bool WritesStateOf(const TrainingSetup& setup, const Parameter& parameter) {
  if (!setup.stage) return true;
  const PipelineStage& stage = setup.stage->stage;
  const std::int64_t holder = stage.shards.HolderOf(parameter);
  return stage.data_index == (holder == ParameterShards::kEveryReplica ? 0 : holder);
}

bool Changes(const Parameter& parameter) { return parameter.trainable || parameter.is_buffer; }

bool StagesSnapshots(const RunConfig& config) {
  return config.snapshots.stages() && !config.memory.memory_page_file;
}

std::int64_t StagingBytesOf(const TrainingSetup& setup) {
  if (!setup.trains() || !StagesSnapshots(setup.config)) return 0;
  const DType dtype = MasterType(setup.dtype());
  const OptimizerOptions& optimizer = setup.config.optimizer;
  std::int64_t bytes = 0;
  for (const Parameter* parameter : setup.parameters) {
    if (!Changes(*parameter) || !WritesStateOf(setup, *parameter)) continue;
    const std::int64_t value = parameter->shape.ElementCount() * SizeOf(dtype);
    bytes += value;
    if (!parameter->trainable) continue;
    const auto states = static_cast<std::int64_t>(setup.optimizer->StateCount());
    bytes += states * BytesOf(FormOf(optimizer.state, parameter->shape, dtype));
    if (optimizer.ema_decay > 0) bytes += value;
  }
  return bytes;
}

std::int64_t KeptBufferBytesOf(const TrainingSetup& setup) {
  const SnapshotOptions& snapshots = setup.config.snapshots;
  if (!setup.trains() || !snapshots.directory || !snapshots.on_exit) return 0;
  std::int64_t bytes = 0;
  for (const Parameter* parameter : setup.parameters) {
    if (!parameter->is_buffer) continue;
    bytes += parameter->shape.ElementCount() * SizeOf(MasterType(setup.dtype()));
  }
  return bytes;
}

}  // namespace frugal

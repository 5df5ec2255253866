#include "sdk/train/replica_statistics.h"

#include <algorithm>
#include <cstring>

#include "sdk/ops/norm/norm.h"
#include "sdk/train/step_pieces.h"

namespace frugal {

ReplicaStatistics::ReplicaStatistics(Context& context, const PipelineStage& stage)
    : context_(context), stage_(stage) {
  if (stage.data_count > 1) context.set_running_updates(&found_);
}

ReplicaStatistics::~ReplicaStatistics() { context_.set_running_updates(nullptr); }

void ReplicaStatistics::Move(ReplicaExchange& exchange, std::int64_t batch) {
  std::vector<const Parameter*> norms;
  for (const RunningUpdate& update : found_) {
    if (std::ranges::find(norms, update.running_mean) == norms.end()) {
      norms.push_back(update.running_mean);
    }
  }
  for (const Parameter* norm : norms) Move(exchange, batch, norm);
  found_.clear();
}

void ReplicaStatistics::Move(ReplicaExchange& exchange, std::int64_t batch,
                             const Parameter* running_mean) {
  const LabelScope label(context_, running_mean->path);
  const std::int64_t parts = stage_.data_count * stage_.micro_batches;
  const std::int64_t channels = running_mean->shape[0];
  // Two rows for each micro-batch, in their order.
  const Tensor all =
      context_.Allocate({2 * parts, channels}, context_.master_dtype(), MemoryTag::kWorkspace);
  RunningUpdate update;
  std::int64_t rows_of_sample = 0;
  for (const RunningUpdate& own : found_) {
    if (own.running_mean != running_mean) continue;
    context_.Launch({OperationKind::kNorm, 4 * own.mean.bytes()}, [&](Backend&, void*) {
      const auto bytes = static_cast<std::size_t>(own.mean.bytes());
      std::memcpy(all.Narrow(2 * own.micro_batch, 1).raw(), own.mean.raw(), bytes);
      std::memcpy(all.Narrow(2 * own.micro_batch + 1, 1).raw(), own.rstd.raw(), bytes);
    });
    rows_of_sample = own.rows / MicroBatchAt(batch, parts, own.micro_batch).count;
    update = own;
  }
  exchange.Gather(all, running_mean->path);
  for (std::int64_t part = 0; part < parts; ++part) {
    update.mean = all.Narrow(2 * part, 1);
    update.rstd = all.Narrow(2 * part + 1, 1);
    update.rows = rows_of_sample * MicroBatchAt(batch, parts, part).count;
    MoveRunning(context_, update);
  }
}

}  // namespace frugal

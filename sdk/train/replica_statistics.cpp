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

// A layer may run several times in a pass.
std::int64_t ReplicaStatistics::UsesOf(const Parameter* running_mean) const {
  const std::int64_t first = found_.front().micro_batch;
  return std::ranges::count_if(found_, [&](const RunningUpdate& update) {
    return update.running_mean == running_mean && update.micro_batch == first;
  });
}

void ReplicaStatistics::Move(ReplicaExchange& exchange, std::int64_t batch,
                             const Parameter* running_mean) {
  const LabelScope label(context_, running_mean->path);
  const std::int64_t parts = stage_.data_count * stage_.micro_batches;
  const std::int64_t channels = running_mean->shape[0];
  const std::int64_t uses = UsesOf(running_mean);
  // Two rows for each use in each micro-batch, in their order.
  const Tensor all = context_.Allocate({2 * uses * parts, channels}, context_.master_dtype(),
                                       MemoryTag::kWorkspace);
  RunningUpdate update;
  std::int64_t rows_of_sample = 0;
  std::int64_t use = 0;
  for (const RunningUpdate& own : found_) {
    if (own.running_mean != running_mean) continue;
    const std::int64_t row = 2 * (own.micro_batch * uses + use++ % uses);
    context_.Launch({OperationKind::kNorm, 4 * own.mean.bytes()}, [&](Backend&, void*) {
      const auto bytes = static_cast<std::size_t>(own.mean.bytes());
      std::memcpy(all.Narrow(row, 1).raw(), own.mean.raw(), bytes);
      std::memcpy(all.Narrow(row + 1, 1).raw(), own.rstd.raw(), bytes);
    });
    rows_of_sample = own.rows / MicroBatchAt(batch, parts, own.micro_batch).count;
    update = own;
  }
  exchange.Gather(all, running_mean->path);
  for (std::int64_t at = 0; at < parts * uses; ++at) {
    update.mean = all.Narrow(2 * at, 1);
    update.rstd = all.Narrow(2 * at + 1, 1);
    update.rows = rows_of_sample * MicroBatchAt(batch, parts, at / uses).count;
    MoveRunning(context_, update);
  }
}

}  // namespace frugal

#pragma once

#include <vector>

#include "sdk/autograd/running_update.h"
#include "sdk/train/replica_exchange.h"

namespace frugal {

// Moves the running statistics of batch norms as one device does that runs the micro-batches of all
// replicas in their order: each replica brings what it found in its own ones.
class ReplicaStatistics {
 public:
  // While it lives, batch norms leave what they find here. `stage` must outlive it.
  ReplicaStatistics(Context& context, const PipelineStage& stage);
  ReplicaStatistics(const ReplicaStatistics&) = delete;
  ReplicaStatistics& operator=(const ReplicaStatistics&) = delete;
  ~ReplicaStatistics();

  // To be called behind the passes of a step on `batch` samples, of which each micro-batch has
  // some.
  void Move(ReplicaExchange& exchange, std::int64_t batch);

 private:
  void Move(ReplicaExchange& exchange, std::int64_t batch, const Parameter* running_mean);
  std::int64_t UsesOf(const Parameter* running_mean) const;

  Context& context_;
  const PipelineStage& stage_;
  std::vector<RunningUpdate> found_;
};

}  // namespace frugal

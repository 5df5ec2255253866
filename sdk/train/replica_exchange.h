#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/train/stage.h"

namespace frugal {

// Exchanges a device's tensors with the replicas of its stage in a step. Dry, nothing moves; either
// way it is noted in StageLinks::exchanges, where that is given.
class ReplicaExchange {
 public:
  // All must outlive it.
  ReplicaExchange(Context& context, const PipelineStage& stage, const StageLinks& links)
      : context_(context), stage_(stage), links_(links) {}

  // Sums for all replicas, or for one; null in a dry run.
  std::unique_ptr<PendingSum> StartSum(const Tensor& tensor, std::optional<std::int64_t> root,
                                       const std::string& what);
  void Sum(const Tensor& tensor, const std::string& what);
  void Broadcast(const Tensor& tensor, std::int64_t root, const std::string& what);
  // Each replica brings its part of the tensor in its place.
  void Gather(const Tensor& tensor, const std::string& what);

 private:
  void Note(const DataExchange& exchange);

  Context& context_;
  const PipelineStage& stage_;
  const StageLinks& links_;
};

}  // namespace frugal

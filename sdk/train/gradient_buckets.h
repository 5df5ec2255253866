#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sdk/train/replica_exchange.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Sums the gradients of replicas while the backward pass still runs. A gradient that is final is
// put into a bucket with others; a full bucket is summed at once, and at most kOnTheirWay sums go
// on at a time. A gradient as large as a bucket is summed where it is. With sharded gradients a
// bucket's sums go to the replica that holds them, and what the others have is given back.
class GradientBuckets {
 public:
  static constexpr std::size_t kOnTheirWay = 4;

  // All must outlive it. Gradients are taken as they become final where each micro-batch of the
  // step has samples: else replicas do not come to the same ones, and all wait for Finish.
  GradientBuckets(Context& context, const StepParts& parts, const PipelineStage& stage,
                  ReplicaExchange& exchange, bool each_has_samples);
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;
  ~GradientBuckets();

  // To be called when gradients may have become final.
  void TakeFinal();
  // Sums what is left. Then all gradients are those of all replicas.
  void Finish();

 private:
  using Root = std::optional<std::int64_t>;  // none where every replica gets the sums
  struct Sum {
    std::vector<const Parameter*> parameters;
    Tensor buffer;  // all of their gradients in a row, or the only one
    Root root;
    std::unique_ptr<PendingSum> pending;  // dies first
  };

  void Add(const Parameter& parameter);
  void Start(std::vector<const Parameter*> parameters, const Root& root);
  void FinishOldest();
  Tensor Packed(const std::vector<const Parameter*>& parameters);
  void Unpack(const Sum& sum);
  bool HoldsGradient(const Parameter& parameter) const {
    return stage_.shards.HoldsGradient(parameter);
  }

  Context& context_;
  const StepParts& parts_;
  const PipelineStage& stage_;
  ReplicaExchange& exchange_;
  bool in_backward_;
  std::vector<bool> taken_;  // by Parameter::index
  std::map<Root, std::vector<const Parameter*>> open_;
  std::deque<Sum> sums_;
};

}  // namespace frugal

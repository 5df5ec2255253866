#pragma once

#include "sdk/optim/optimizer.h"
#include "sdk/train/replica_exchange.h"
#include "sdk/train/stage.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Does what a device has to do behind the passes of a step: brings gradients of shared parameters
// to their owners, and updates.
class StageUpdate {
 public:
  // All must outlive it.
  StageUpdate(Context& context, const StepParts& parts, const PipelineStage& stage,
              const StageLinks& links, ReplicaExchange& exchange, const Optimizer& optimizer)
      : context_(context),
        parts_(parts),
        stage_(stage),
        links_(links),
        exchange_(exchange),
        optimizer_(optimizer) {}

  // Brings the gradients of shared parameters to their owners.
  void GatherShared();
  // Updates, when gradients are those of all replicas. Returns the norm of all of them.
  double Run();

 private:
  static int owner(const SharedParameter& shared) {
    return static_cast<int>(shared.stages.front());
  }
  bool owns(const SharedParameter& shared) const { return stage_.index == shared.stages.front(); }

  void GatherShared(const SharedParameter& shared);
  void SpreadShared(const SharedParameter& shared);
  std::vector<Parameter*> Updated() const;
  void SpreadUpdated(const Parameter& parameter);
  double Norm();

  Context& context_;
  const StepParts& parts_;
  const PipelineStage& stage_;
  const StageLinks& links_;
  ReplicaExchange& exchange_;
  const Optimizer& optimizer_;
};

}  // namespace frugal

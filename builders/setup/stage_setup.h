#pragma once

#include <memory>
#include <vector>

#include "builders/setup/boundary_table.h"
#include "layers/sequential.h"
#include "sdk/plan/placement.h"
#include "sdk/train/batch.h"

namespace frugal {

// Holds what a device of a training on several has beside its own part of the network.
struct StageSetup {
  PipelineStage stage;
  LayerRange layers;  // of the whole network
  // The other parts, which run elsewhere. Shared parameters may belong to them.
  std::vector<std::unique_ptr<Sequential>> others;
  std::unique_ptr<BoundaryTable> boundaries;

  // Evaluations and predictions run on the first replica alone, or, where replicas share the
  // values, on all of them.
  bool evaluates() const { return stage.data_index == 0 || stage.shards.stage >= 3; }
  // It reads this of a batch. Data of the program's own are read whole, and so are those that a
  // diffusion process adds noise to.
  BatchParts reads;
  bool reads_data() const { return stage.is_first() || stage.is_last(); }
};

}  // namespace frugal

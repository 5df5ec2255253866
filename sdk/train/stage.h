#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/comm/communicator.h"
#include "sdk/module/parameter.h"
#include "sdk/module/parameter_shards.h"
#include "sdk/plan/data_exchange.h"
#include "sdk/plan/pipeline_simulation.h"
#include "sdk/plan/stage_traffic.h"

namespace frugal {

// One variable of the tuple that travels from a stage of a pipeline to the next.
struct StageVariable {
  Shape shape;
  DType dtype = DType::kF32;
  bool is_skip = false;        // as in Var
  bool has_slot = false;       // in training, something before it can be differentiated
  bool gets_gradient = false;  // in training, its gradient comes back
  // The number of the earlier variable of the tuple that is the same tensor, or -1. It travels
  // once, so that its gradients add up in the order in which they would without a cut.
  std::int64_t same_as = -1;
};
using StageBoundary = std::vector<StageVariable>;

// Allocates what comes over a cut, with slots of the tape where it has some. Slots are returned
// too, where they are not null: kNoGradient for what has none or came before.
VarTuple InputsBehind(const StageBoundary& boundary, Context& context, Tape* tape,
                      std::vector<int>* slots = nullptr);

// Returns what crosses a cut of the network with so many samples.
using StageBoundaryOf = std::function<const StageBoundary&(std::int64_t samples)>;

// A parameter that layers of several stages use (tied weights). The first of the stages owns it:
// the others keep a copy, send it the sum of their gradients of a step, the last stage first, and
// get the updated value.
struct SharedParameter {
  const Parameter* parameter = nullptr;
  std::vector<std::int64_t> stages;  // ascending
};

// Says what one device does in a training on several: its place in the mesh {data, pipeline}, what
// it runs when, and what crosses its borders.
struct PipelineStage {
  std::int64_t index = 0, count = 1;            // along the pipeline
  std::int64_t data_index = 0, data_count = 1;  // along the data: replicas of the whole pipeline
  std::int64_t micro_batches = 1;               // that each replica runs in a step
  std::vector<PipelineSlot> slots;              // of a step
  StageBoundaryOf before, after;
  std::vector<SharedParameter> shared;  // those that this stage uses
  ParameterShards shards{};             // of what the replicas of this stage hold
  std::int64_t bucket_bytes = 0;        // gradients below it are summed with others
  std::int64_t parameters = 0;          // of the whole network; Parameter::index is below it

  // Number of the device among all.
  std::int64_t device() const { return data_index * count + index; }
  bool is_first() const { return index == 0; }
  bool is_last() const { return index + 1 == count; }
};

// Returns what the device hands to others in a training step on `batch` samples. `exchanges` are
// those with its replicas, and `norm` says whether a norm of gradients is taken.
StageTraffic TrafficOf(const PipelineStage& stage, std::span<const DataExchange> exchanges,
                       std::int64_t batch, DType master, bool norm);

// The groups that a device belongs to: in `pipeline` it has the rank PipelineStage::index, in
// `data` the rank PipelineStage::data_index. Null in a dry run.
struct StageLinks {
  Communicator* pipeline = nullptr;
  Communicator* data = nullptr;
  // TrainStage notes here when each slot worked (steady_clock), without what it waited for; null
  // for nowhere.
  std::vector<SlotTime>* slots = nullptr;
  // Exchanges with replicas are noted here, by dry runs too; null for nowhere.
  std::vector<DataExchange>* exchanges = nullptr;
};

}  // namespace frugal

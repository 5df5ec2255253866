#include "sdk/plan/mesh_prediction.h"

#include <algorithm>
#include <array>
#include <utility>

namespace frugal {
namespace {

double SecondsOf(const Traffic& traffic, const MeshSpeed& speed) {
  return static_cast<double>(traffic.bytes) / speed.bytes +
         static_cast<double>(traffic.messages) * speed.latency;
}

// Returns the seconds that the slowest cut takes for a micro-batch.
double LinkSeconds(const DevicesPlan& plan, const MeshSpeed& speed) {
  double most = 0;
  for (const DevicePlan& device : plan.devices) {
    for (const Traffic& traffic : {device.sent.next, device.sent.previous}) {
      most = std::max(most, SecondsOf(traffic, speed) / static_cast<double>(plan.micro_batches));
    }
  }
  return most;
}

}  // namespace

MeshPrediction PredictStep(const DevicesPlan& plan, const MeshSpeed& speed) {
  PipelineCosts costs;
  const double scale = kWorkUnit / speed.flops;
  for (const StageSeconds& work : plan.work) {
    costs.stages.push_back({.forward = work.forward * scale,
                            .input_gradient = work.input_gradient * scale,
                            .weight_gradient = work.weight_gradient * scale});
  }
  costs.link = LinkSeconds(plan, speed);
  const PipelineTimes times = SimulatePipeline(plan.schedule, costs);
  MeshPrediction prediction;
  prediction.pipeline = times.Seconds();
  prediction.shares = SharesOf(times);
  for (const DevicePlan& device : plan.devices) {
    prediction.work.push_back(device.flops / speed.flops);
    Traffic sums = device.sent.pipeline;
    prediction.exchange.push_back(SecondsOf(sums += device.sent.data, speed));
  }
  const double exchange = std::ranges::max(prediction.exchange);
  prediction.step = prediction.pipeline + exchange;
  const auto parts = std::to_array<std::pair<double, std::string_view>>(
      {{prediction.shares.work * prediction.pipeline, "work"},
       {prediction.shares.uneven * prediction.pipeline, "the slowest stage"},
       {prediction.shares.bubble * prediction.pipeline, "the bubble"},
       {exchange, "traffic"}});
  prediction.bound_by = std::ranges::max(parts).second;
  return prediction;
}

}  // namespace frugal

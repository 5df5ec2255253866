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

namespace {

// Backward takes two thirds of the calls, as of the work.
PipelineCosts CostsOf(const DevicesPlan& plan, const MeshSpeed& speed) {
  PipelineCosts costs;
  const double scale = kWorkUnit / speed.flops;
  for (std::size_t stage = 0; stage < plan.work.size(); ++stage) {
    const StageSeconds& work = plan.work[stage];
    const double calls = plan.launches[stage] * speed.call / 3;
    costs.stages.push_back({.forward = work.forward * scale + calls,
                            .input_gradient = work.input_gradient * scale + calls,
                            .weight_gradient = work.weight_gradient * scale + calls});
  }
  costs.link = LinkSeconds(plan, speed);
  return costs;
}

// Returns the share of the stages' work that is the cost of calls.
double CallsShare(const DevicesPlan& plan, const MeshSpeed& speed) {
  double calls = 0, work = 0;
  for (std::size_t stage = 0; stage < plan.work.size(); ++stage) {
    const StageSeconds& of = plan.work[stage];
    calls += plan.launches[stage] * speed.call;
    work += (of.forward + of.input_gradient + of.weight_gradient) * kWorkUnit / speed.flops;
  }
  return calls + work > 0 ? calls / (calls + work) : 0;
}

}  // namespace

MeshPrediction PredictStep(const DevicesPlan& plan, const MeshSpeed& speed) {
  const PipelineTimes times = SimulatePipeline(plan.schedule, CostsOf(plan, speed));
  MeshPrediction prediction;
  prediction.pipeline = times.Seconds();
  prediction.shares = SharesOf(times);
  prediction.calls = CallsShare(plan, speed);
  for (const DevicePlan& device : plan.devices) {
    const double calls = plan.launches[static_cast<std::size_t>(device.stage)] * speed.call *
                         static_cast<double>(plan.micro_batches);
    prediction.work.push_back(device.flops / speed.flops + calls);
    Traffic sums = device.sent.pipeline;
    prediction.exchange.push_back(SecondsOf(sums += device.sent.data, speed));
  }
  const double exchange = std::ranges::max(prediction.exchange);
  prediction.step = prediction.pipeline + exchange;
  const double work = prediction.shares.work * prediction.pipeline;
  const auto parts = std::to_array<std::pair<double, std::string_view>>(
      {{work * (1 - prediction.calls), "work"},
       {work * prediction.calls, "calls"},
       {prediction.shares.uneven * prediction.pipeline, "the slowest stage"},
       {prediction.shares.bubble * prediction.pipeline, "the bubble"},
       {exchange, "traffic"}});
  prediction.bound_by = std::ranges::max(parts).second;
  return prediction;
}

}  // namespace frugal

#include "builders/memory_report/memory_report.h"

#include <algorithm>

#include "builders/budget/budget_curve.h"
#include "builders/execute/executor.h"
#include "builders/plan/one_device_planner.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

std::string NameOfStep(StepKind kind, std::int64_t batch) {
  return std::string(NameOf(kind)) + " step of " + FormatCount(batch);
}

DeviceReport ReportOf(const PlannedTraining& planned, std::int64_t device) {
  DeviceReport report{.device = device};
  if (planned.plan.steps.empty()) return report;
  const auto step_report = [&](const StepPlan& step) {
    return StepReport{.name = NameOfStep(step.kind, step.batch),
                      .memory = PlanStepMemory(planned, step)};
  };
  const StepPlan& peak = PeakStepOf(planned.plan);
  report.planned = step_report(peak);
  report.side_by_side = peak.side_by_side;
  const StepPlan& first = planned.plan.steps.front();  // of a training it is one of its steps
  if (&first != &peak && first.kind == StepKind::kTrain) {
    report.planned_training = step_report(first);
  }
  return report;
}

// The network of the plan keeps its segments: a second one is prepared.
void AddCurve(const PlannedTraining& planned, MemoryReport& report) {
  if (!planned.trains() || planned.plan.devices) {
    report.no_curve = planned.trains() ? "of several devices each has its part of the network"
                                       : "nothing is trained";
    return;
  }
  try {
    const TrainingSetup setup = PrepareTraining(WithoutWeightsFile(planned.config),
                                                planned.dataset ? nullptr : &planned.layout);
    report.curve = CurveOf(setup);
  } catch (const Error& error) {
    report.no_curve = error.what();
  }
}

DeviceReport& DeviceOf(MemoryReport& report, std::int64_t number) {
  const auto found = std::ranges::find(report.devices, number, &DeviceReport::device);
  if (found != report.devices.end()) return *found;
  return report.devices.emplace_back(DeviceReport{.device = number});
}

}  // namespace

MemoryReport PlannedMemoryReport(const PlannedTraining& planned, bool with_curve) {
  MemoryReport report{
      .model = planned.config.model.name, .planned_bytes = planned.plan.peak_bytes, .devices = {}};
  for (const LayerPlan& layer : planned.plan.layers) report.layers[layer.path] = layer.description;
  if (planned.devices.empty()) {
    report.devices.push_back(ReportOf(planned, 0));
  }
  for (std::size_t i = 0; i < planned.devices.size(); ++i) {
    report.devices.push_back(ReportOf(planned.devices[i], static_cast<std::int64_t>(i)));
  }
  if (with_curve) AddCurve(planned, report);
  return report;
}

void AddNow(const Executor& executor, MemoryReport& report) {
  ProcessMemory process{.resident_bytes = ResidentBytes(),
                        .peak_resident_bytes = PeakResidentBytes()};
  for (DeviceMemory& memory : executor.DeviceMemories()) {
    process.reserved_bytes += memory.allocator.bytes_reserved;
    DeviceOf(report, memory.device).now = std::move(memory);
  }
  report.process = process;
}

void AddMeasured(std::vector<StepMemory> steps, std::int64_t batch, MemoryReport& report) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    DeviceOf(report, static_cast<std::int64_t>(i)).measured = {
        .name = NameOfStep(StepKind::kTrain, batch), .memory = std::move(steps[i])};
  }
}

}  // namespace frugal

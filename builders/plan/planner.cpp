#include "builders/plan/planner.h"

#include "builders/config/error_place.h"
#include "builders/plan/device_planner.h"
#include "builders/plan/one_device_planner.h"
#include "builders/setup/metric_rules.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"
#include "sdk/core/with_place.h"

namespace frugal {
namespace {

void CheckDeviceLimit(const PlannedTraining& planned) {
  if (planned.plan.devices) return;  // each of them was looked at
  const auto limit_mb = planned.config.memory.max_memory_per_device_mb;
  if (!limit_mb || planned.plan.peak_bytes <= *limit_mb * kBytesPerMegabyte) return;
  const Plan& plan = planned.plan;
  std::string parts;
  for (const MemoryTag tag : kAllMemoryTags) {
    if (plan.at_peak[tag] == 0) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(NameOf(tag)) + " " +
             FormatBytes(plan.at_peak[tag]);
  }
  const Diagnostic diagnostic = {
      .where = "memory.max_memory_per_device_mb",
      .required = "the plan stays within " + FormatBytes(*limit_mb * kBytesPerMegabyte),
      .given = "it peaks at " + FormatBytes(plan.peak_bytes) + " (" + parts +
               "); the largest holders are " + DescribeHolders(plan.largest_holders, 3) + "; " +
               PeakKindsText(planned, 4),
      .advice =
          "state memory_budget_mb, so that a plan is made to fit, use a smaller batch, or "
          "a higher limit"};
  throw MemoryError(diagnostic, planned.config.origins.PlaceOf(diagnostic.where));
}

// A label without an output could only be found by reading past a row.
void CheckOutputs(const PlannedTraining& planned) {
  const std::int64_t classes = planned.layout.classes;
  const LossOptions& loss = planned.config.loss;
  if (loss.function || !TakesLabels(loss.kind) || planned.plan.layers.empty()) return;
  const Shape& output = planned.plan.layers.back().output;
  if (output.back() >= classes) return;
  const std::vector<LayerSpec>& layers = planned.config.model.layers;
  throw ShapeError({.where = "loss",
                    .required = "the network ends in an output for each of the " +
                                std::to_string(classes) + " classes",
                    .given = "it ends in " + ToString(output),
                    .advice = "let the last layer have " + std::to_string(classes) + " units"},
                   layers.empty() ? SourceLocation() : layers.back().location);
}

}  // namespace

PlannedTraining PlanTraining(TrainingSetup setup, PlanPurpose purpose) {
  MakeMetrics(setup);  // which checks them
  return setup.config.memory.num_devices > 1 ? PlanDevices(std::move(setup), purpose)
                                             : PlanOneDevice(std::move(setup));
}

PlannedTraining PlanTraining(const RunConfig& config, const DataLayout* custom_layout,
                             PlanPurpose purpose) {
  TrainingSetup setup = PrepareTraining(config, custom_layout);
  return WithPlaceIn(config, [&] {
    PlannedTraining planned = PlanTraining(std::move(setup), purpose);
    CheckOutputs(planned);
    CheckDeviceLimit(planned);
    LogDebug("planned " + config.model.name + ": " + FormatBytes(planned.plan.peak_bytes) +
             " at the peak, " + FormatBytes(planned.plan.arena_bytes) + " of them the arena");
    return planned;
  });
}

PlannedTraining PlanInference(const RunConfig& config, const DataLayout& layout,
                              const InferenceSettings& settings) {
  TrainingSetup setup = PrepareInference(config, layout, settings);
  return WithPlaceIn(config, [&] {
    MakeMetrics(setup);  // which checks them
    PlannedTraining planned = PlanOneDevice(std::move(setup));
    if (settings.evaluates) CheckOutputs(planned);
    CheckDeviceLimit(planned);
    return planned;
  });
}

}  // namespace frugal

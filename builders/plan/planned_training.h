#pragma once

#include <functional>

#include "builders/setup/training_setup.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Says what a plan is for. One that is only printed plans devices that come to the same once, so
// that meshes of thousands of devices are planned in seconds.
enum class PlanPurpose : std::uint8_t { kRun, kPrint };

// A planned training: what was given, with what the planner chose in force in its configuration and
// in the network's checkpointed segments, and the plan of what it will all take. Threads: any
// number may read its values; its network, backend and optimizer serve one at a time.
struct PlannedTraining : TrainingSetup {
  Plan plan;
  std::string published_model{};  // its name, where one is planned without data; else empty
  // With several devices that are to run, the training of each; then this one has the whole
  // network, and its plan sums up theirs.
  std::vector<PlannedTraining> devices{};
  // Is told the context that steps run in, once it is there; for whoever listens to kernels.
  std::function<void(const Context& context)> on_context{};

  bool updates_in_backward() const { return !plan.final_after.empty(); }
  StepParts step_parts() const {
    return StepPartsOf(*this, SettingsOf(config), plan.final_after, plan.summed_after);
  }
};

}  // namespace frugal

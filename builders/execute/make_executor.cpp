#include "builders/execute/make_executor.h"

#include "builders/execute/local_executor.h"
#include "builders/execute/sharded_executor.h"
#include "sdk/core/error.h"

namespace frugal {

std::unique_ptr<Executor> MakeExecutor(const PlannedTraining& planned, DataSources sources) {
  if (planned.plan.devices && planned.devices.empty()) {
    throw UsageError({.where = "Model",
                      .required = "a plan that was made to run",
                      .given = "this one was made to be printed",
                      .advice = "use PlanPurpose::kRun"});
  }
  if (planned.devices.empty()) return std::make_unique<LocalExecutor>(planned, std::move(sources));
  return std::make_unique<ShardedExecutor>(planned, std::move(sources));
}

}  // namespace frugal

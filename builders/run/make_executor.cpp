#include "builders/run/make_executor.h"

#include "builders/run/local_executor.h"
#include "builders/run/sharded_executor.h"

namespace frugal {

std::unique_ptr<Executor> MakeExecutor(const PlannedTraining& planned, DataSources sources) {
  if (planned.devices.empty()) return std::make_unique<LocalExecutor>(planned, std::move(sources));
  return std::make_unique<ShardedExecutor>(planned, std::move(sources));
}

}  // namespace frugal

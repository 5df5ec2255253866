#include "sdk/comm/mpi/told_size.h"

#include <cstdlib>

namespace frugal {

std::optional<ToldSize> ReadToldSize() {
  // SLURM_STEP_NUM_TASKS is there in a step of srun, and not in the script around it.
  for (const char* variable :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* text = std::getenv(variable);
    if (text == nullptr) continue;
    const int processes = std::atoi(text);
    if (processes > 1) return ToldSize{.processes = processes, .variable = variable};
  }
  return std::nullopt;
}

}  // namespace frugal

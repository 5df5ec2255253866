// Stands where there is no MPI to build with.
#include "sdk/comm/communication_error.h"
#include "sdk/comm/mpi/launch.h"
#include "sdk/comm/mpi/told_size.h"

namespace frugal {

void RunLaunched(const std::function<void()>& body) {
  if (const auto told = ReadToldSize()) {
    throw CommunicationError(
        {.where = "launch",
         .required = "a program that knows MPI",
         .given = std::to_string(told->processes) + " processes were started (" + told->variable +
                  "), and this one was built without it",
         .advice = "install libopenmpi-dev and build again, or start one process, whose devices "
                   "are threads"});
  }
  body();
}

}  // namespace frugal

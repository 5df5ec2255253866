#pragma once

#include <functional>

namespace frugal {

// Runs a program's body, in a process that mpirun or srun started beside others as one of these:
// then Launched() names them, and only the first prints to standard output. Where one fails, all
// end. Throws CommunicationError where this process cannot find the others.
void RunLaunched(const std::function<void()>& body);

}  // namespace frugal

#pragma once

#include <functional>

namespace frugal {

// Runs the work that a command line asks for, e.g. in each of the processes that mpirun started.
using Launcher = std::function<void(const std::function<void()>& work)>;

// The whole `frugal` command, for programs that add to it: layers that were registered before
// (builders/config/types/layer_registry.h) are known to files, `plan`, `train` and `schema`.
// Returns the exit code: 0 done, 1 an error, 2 a wrong command line, 3 a training diverged.
//
//   int main(int count, char** arguments) {
//     frugal::Register<Gain>("gain", {...});
//     return frugal::Cli(count, arguments);
//   }
int Cli(int count, const char* const* arguments, const Launcher& launch = {});

}  // namespace frugal

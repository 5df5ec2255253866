// The `frugal` command, which takes part where mpirun or srun started it.
#include "builders/cli/cli.h"
#include "sdk/comm/mpi/launch.h"

int main(int count, char** arguments) { return frugal::Cli(count, arguments, frugal::RunLaunched); }

// All-reduce between two processes of this machine: through our shared memory beside Open MPI's
// own, in turn, and beside a copy of as many bytes in one process. Starts itself under mpirun.
// Prints the best and the median of the rounds; sums of ours go in the order of ranks, to the bit.
//
//   bench_collectives [--megabytes N] [--rounds N]
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "builders/report/text/text_table.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/comm/mpi/launch.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"
#include "tests/benchmarks/seconds.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

template <class Body>
double SecondsOf(const Body& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Row {
  std::string name;
  std::vector<double> seconds;
};

void Run(std::int64_t floats, int rounds) {
  Communicator& ranks = *Launched()->ranks;
  SetThreadCount(1);
  std::vector<float> values(static_cast<std::size_t>(floats), 1.0F), others(values.size(), 0.0F);
  const auto count = static_cast<int>(floats);
  std::vector<Row> rows = {{"ours", {}}, {"Open MPI", {}}, {"a copy", {}}};
  for (int round = 0; round < rounds + 1; ++round) {
    const auto measure = [&](Row& row, const auto& body) {
      ranks.Barrier("a round");
      const double seconds = SecondsOf(body);
      if (round > 0) row.seconds.push_back(seconds);  // pages are there from the second on
    };
    measure(rows[0], [&] { ranks.AllReduce({values.data(), floats, DType::kF32}, "values"); });
    measure(rows[1], [&] {
      MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    measure(rows[2],
            [&] { std::memcpy(others.data(), values.data(), values.size() * sizeof(float)); });
    std::ranges::fill(values, 1.0F);
  }
  TextTable table;
  table.columns = {{FixedText(static_cast<double>(floats) * 4e-6, 2) + " MB, two processes"},
                   {"best ms", true},
                   {"median ms", true},
                   {"of Open MPI's median", true}};
  for (const Row& row : rows) {
    table.rows.push_back({row.name, FixedText(std::ranges::min(row.seconds) * 1e3, 3),
                          FixedText(Median(row.seconds) * 1e3, 3),
                          FixedText(Median(row.seconds) / Median(rows[1].seconds), 2)});
  }
  std::cout << ToText(table);
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  std::int64_t megabytes = 100;
  int rounds = 15;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--megabytes") megabytes = std::max(1, std::atoi(arguments[i + 1]));
    if (name == "--rounds") rounds = std::max(3, std::atoi(arguments[i + 1]));
  }
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    std::vector<char*> command;
    for (const char* word : {"mpirun", "-n", "2", "--oversubscribe"}) {
      command.push_back(const_cast<char*>(word));
    }
    for (int i = 0; i < count; ++i) command.push_back(arguments[i]);
    command.push_back(nullptr);
    ::execvp("mpirun", command.data());
    std::cerr << "error: mpirun cannot be started; install openmpi-bin\n";
    return 1;
  }
  return frugal::RunProgram([&] {
    frugal::RunLaunched([&] {
      for (const std::int64_t floats :
           {std::int64_t{1}, std::int64_t{16'384}, megabytes * 250'000}) {
        frugal::Run(floats, rounds);
      }
    });
  });
}

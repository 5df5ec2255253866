#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/comm/mpi/launch.h"
#include "sdk/comm/mpi/mpi_transport.h"
#include "sdk/comm/mpi/told_size.h"
#include "sdk/comm/process/routed_transport.h"
#include "sdk/comm/process/run_rank.h"
#include "sdk/comm/process/shared_transport.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

// Chunks between the ranks of one machine take so much, which fits what containers have in
// /dev/shm; from eleven ranks on each pair has the fewest that it can do with.
constexpr std::int64_t kSharedBytes = std::int64_t{48} << 20;
constexpr std::int64_t kFewestChunks = 8, kMostChunks = 32;

std::int64_t ChunksOfPair(int ranks) {
  const std::int64_t pairs = std::max(1, ranks * (ranks - 1));
  return std::clamp(kSharedBytes / pairs / ChunkTransport::kChunkBytes, kFewestChunks, kMostChunks);
}

// Holds the ranks of this machine among all.
struct Machine {
  explicit Machine(MPI_Comm all) {
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &ranks);
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    int own = 0;
    MPI_Comm_rank(all, &own);
    in_all.resize(static_cast<std::size_t>(size));
    MPI_Allgather(&own, 1, MPI_INT, in_all.data(), 1, MPI_INT, ranks);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { MPI_Comm_free(&ranks); }

  MPI_Comm ranks = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<int> in_all;
};

std::unique_ptr<ChunkTransport> ShareMemory(const Machine& machine, std::int64_t& shared_bytes) {
  const ChunksBetween chunks = [&](int, int) { return ChunksOfPair(machine.size); };
  const std::int64_t bytes = SharedTransport::BytesFor(machine.size, chunks);
  shared_bytes = bytes;
  std::array<char, 256> name{};
  std::unique_ptr<SharedMemory> memory;
  if (machine.rank == 0) {
    memory = std::make_unique<SharedMemory>(SharedMemory::Create(bytes));
    name[memory->name().copy(name.data(), name.size() - 1)] = '\0';
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, machine.ranks);
  if (machine.rank != 0) {
    memory = std::make_unique<SharedMemory>(SharedMemory::Open(name.data(), bytes));
  }
  MPI_Barrier(machine.ranks);
  memory->Unlink();
  auto transport =
      std::make_unique<SharedTransport>(std::move(*memory), machine.rank, machine.in_all, chunks);
  MPI_Barrier(machine.ranks);
  return transport;
}

// `shared_bytes` becomes what the ranks of this machine share.
std::unique_ptr<ChunkTransport> Connect(const Machine& machine, int size,
                                        std::int64_t& shared_bytes) {
  // The one way to try what goes between machines on a single one.
  const char* links = std::getenv("FRUGAL_LINKS");
  if (links != nullptr && std::string(links) == "mpi") {
    return std::make_unique<MpiTransport>(MPI_COMM_WORLD);
  }
  std::unique_ptr<ChunkTransport> near = ShareMemory(machine, shared_bytes);
  if (machine.size == size) return near;
  return std::make_unique<RoutedTransport>(std::move(near), machine.in_all,
                                           std::make_unique<MpiTransport>(MPI_COMM_WORLD));
}

// Returns the processors that this process may run on.
cpu_set_t Mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

std::string ProcessorsIn(const cpu_set_t& mask) {
  std::string text;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) text += (text.empty() ? "" : ", ") + std::to_string(i);
  }
  return text;
}

// Counts the ranks of the machine that may run just where this one may, and has the first rank warn
// where these are more than there are processors.
int CountSharing(const Machine& machine) {
  cpu_set_t own = Mask();
  std::vector<cpu_set_t> masks(static_cast<std::size_t>(machine.size));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, masks.data(), sizeof own, MPI_BYTE, machine.ranks);
  int sharing = 0, first = machine.rank;
  std::string ranks;
  for (int i = 0; i < machine.size; ++i) {
    if (!CPU_EQUAL(&masks[static_cast<std::size_t>(i)], &own)) continue;
    first = std::min(first, i);
    ranks +=
        (sharing++ == 0 ? "" : ", ") + std::to_string(machine.in_all[static_cast<std::size_t>(i)]);
  }
  if (first == machine.rank && sharing > CPU_COUNT(&own)) {
    LogWarning("ranks " + ranks + " share " + std::to_string(CPU_COUNT(&own)) + " processors (" +
               ProcessorsIn(own) + ") and slow each other down; start fewer, " +
               "or let them use all there are: mpirun --bind-to none, srun --cpu-bind=none");
  }
  return sharing;
}

// Swallows what this process prints while it lives, and its warnings: another one says the same.
class Silence final : public std::streambuf {
 public:
  explicit Silence(bool active) : before_(active ? std::cout.rdbuf(this) : nullptr) {
    if (active) SilenceLog();
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() override {
    if (before_ != nullptr) std::cout.rdbuf(before_);
  }

 private:
  int overflow(int character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }

  std::streambuf* before_;  // null where it is not active
};

// While it lives, SIGTERM goes to the handler that the process has for it, e.g. of a training that
// ends behind its step; where it has none, it ends the process somewhat later. Where a rank is
// killed, mpirun sends it to the others, which so see what became of that rank and say what it was
// at.
class LateTermination {
 public:
  LateTermination() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    std::thread([signals = signals_] {
      PassOn(signals);
      std::this_thread::sleep_for(kDelay);
      std::signal(SIGTERM, SIG_DFL);
      ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
      ::raise(SIGTERM);
    }).detach();
  }
  LateTermination(const LateTermination&) = delete;
  LateTermination& operator=(const LateTermination&) = delete;
  ~LateTermination() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  // Returns when one came that has no handler.
  static void PassOn(const sigset_t& signals) {
    for (;;) {
      int signal = 0;
      ::sigwait(&signals, &signal);
      struct sigaction now = {};
      ::sigaction(signal, nullptr, &now);
      if (now.sa_handler == SIG_DFL) return;
      if (now.sa_handler != SIG_IGN) now.sa_handler(signal);
    }
  }

  static constexpr std::chrono::milliseconds kDelay{700};
  sigset_t signals_{}, before_{};
};

void CheckSize(int size) {
  const auto told = ReadToldSize();
  if (!told || told->processes == size) return;
  throw CommunicationError(
      {.where = "launch",
       .required = "the launcher and the MPI library belong together",
       .given = std::to_string(told->processes) + " processes were started (" + told->variable +
                "), and the library sees " + std::to_string(size),
       .advice = "start them with the mpirun of Open MPI, or with srun --mpi=pmix"});
}

void RunRanks(const std::function<void()>& body) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CheckSize(size);
  const Machine machine(MPI_COMM_WORLD);
  const int sharing = CountSharing(machine);
  std::int64_t link_bytes = 0;
  std::unique_ptr<ChunkTransport> transport = Connect(machine, size, link_bytes);
  RunProcessRank(std::move(transport), [&](Communicator& ranks, const FailFunction& fail) {
    const LaunchedScope scope({.ranks = &ranks,
                               .on_machine = machine.in_all,
                               .link_bytes = link_bytes,
                               .sharing = sharing,
                               .fail = fail});
    const Silence silence(ranks.rank() > 0);
    body();
    ranks.Barrier("the end of the run");
  });
}

}  // namespace

void RunLaunched(const std::function<void()>& body) {
  if (!ReadToldSize()) return body();
  const LateTermination late;
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  try {
    RunRanks(body);
  } catch (const FailedRankError&) {
    // That rank says why and ends the run; it has a moment's time to come first.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    throw;
  } catch (const ConfigError&) {
    // All have it: the first one's message is enough, and ends the others.
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    throw;
  }
  MPI_Finalize();
}

}  // namespace frugal

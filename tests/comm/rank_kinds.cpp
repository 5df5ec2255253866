#include "tests/comm/rank_kinds.h"

#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/process/run_rank.h"
#include "sdk/comm/process/shared_transport.h"
#include "sdk/comm/thread_ranks.h"

namespace frugal::testing {
namespace {

std::int64_t FewChunks(int, int) { return 4; }

void RunSharedRanks(int size, const std::function<void(Communicator&)>& body) {
  const std::int64_t bytes = SharedTransport::BytesFor(size, FewChunks);
  const SharedMemory memory = SharedMemory::Create(bytes);
  std::vector<int> names(static_cast<std::size_t>(size));
  std::iota(names.begin(), names.end(), 0);
  std::mutex mutex;
  std::exception_ptr first, lost;
  std::vector<std::unique_ptr<ChunkTransport>> transports;
  for (int rank = 0; rank < size; ++rank) {
    transports.push_back(std::make_unique<SharedTransport>(SharedMemory::Open(memory.name(), bytes),
                                                           rank, names, FewChunks));
  }
  std::vector<std::thread> threads;
  for (auto& transport : transports) {
    threads.emplace_back([&] {
      try {
        RunProcessRank(std::move(transport),
                       [&](Communicator& ranks, const FailFunction&) { body(ranks); });
      } catch (const LostRankError&) {
        const std::scoped_lock lock(mutex);
        if (!lost) lost = std::current_exception();
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
  if (lost) std::rethrow_exception(lost);
}

}  // namespace

void RunRanks(RankKind kind, int size, const std::function<void(Communicator&)>& body) {
  kind == RankKind::kThreads ? RunThreadRanks(size, body) : RunSharedRanks(size, body);
}

}  // namespace frugal::testing

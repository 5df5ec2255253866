#include "sdk/comm/process/shared_transport.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>

namespace frugal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRest{20};
constexpr milliseconds kHeartbeat{200};

void FutexWait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  const timespec limit = {.tv_sec = 0, .tv_nsec = kRest.count() * 1'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void FutexWake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Beat(const std::stop_token& stop, std::atomic<std::uint64_t>& heartbeat) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    heartbeat.fetch_add(1);
    wake.wait_for(lock, stop, kHeartbeat, [] { return false; });
  }
}

std::int64_t StatusBytes(int size) { return size * static_cast<std::int64_t>(sizeof(RankStatus)); }

}  // namespace

std::int64_t SharedTransport::BytesFor(int size, const ChunksBetween& chunks) {
  std::int64_t bytes = StatusBytes(size);
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from != to) bytes += ChunkRing::BytesFor(chunks(from, to));
    }
  }
  return bytes;
}

SharedTransport::SharedTransport(SharedMemory memory, int rank, const std::vector<int>& names,
                                 const ChunksBetween& chunks)
    : ChunkTransport(rank, static_cast<int>(names.size())),
      memory_(std::move(memory)),
      ranks_(reinterpret_cast<RankStatus*>(memory_.data())),
      sent_(names.size()),
      received_(names.size()),
      watch_(ranks_, names) {
  const int size = this->size();
  std::byte* at = memory_.data() + StatusBytes(size);
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from == to) continue;
      const std::int64_t count = chunks(from, to);
      if (from == rank) To(to) = ChunkRing(at, count);
      if (to == rank) From(from) = ChunkRing(at, count);
      at += ChunkRing::BytesFor(count);
    }
  }
  own().process.store(::getpid());
  own().state.store(RankStatus::kRunning, std::memory_order_release);
  heart_ = std::jthread(
      [&status = own()](const std::stop_token& stop) { Beat(stop, status.heartbeat); });
}

// A rank that goes without a word has ended: others must not wait for its heart.
SharedTransport::~SharedTransport() {
  if (own().state.load() == RankStatus::kRunning) End();
}

void SharedTransport::Ring(int other) {
  RankStatus& status = ranks_[other];
  status.doorbell.fetch_add(1);
  if (status.rests.load() != 0) FutexWake(status.doorbell);
}

void SharedTransport::Commit(int to, std::int64_t bytes) {
  To(to).Commit(bytes);
  Ring(to);
}

void SharedTransport::Pop(int from) {
  From(from).Pop();
  Ring(from);
}

std::uint32_t SharedTransport::Ticket() { return own().doorbell.load(); }

void SharedTransport::Rest(std::uint32_t ticket) {
  own().rests.store(1);
  if (own().doorbell.load() == ticket) FutexWait(own().doorbell, ticket);
  own().rests.store(0);
}

void SharedTransport::CheckOthers(int waits_for, const std::string& activity) {
  watch_.Check(rank(), waits_for, activity);
}

void SharedTransport::Fail(const std::string& message) {
  if (own().state.load() == RankStatus::kFailed) return;  // the first reason counts
  WriteText(message, own().failure);
  own().state.store(RankStatus::kFailed, std::memory_order_release);
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) Ring(other);
  }
}

}  // namespace frugal

#include "sdk/io/paging/disk_pager.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "sdk/io/paging/page_copy.h"

namespace frugal {
namespace {

constexpr std::int64_t kBlock = kDirectBlock;
constexpr std::size_t kMostScripts = 16;

std::int64_t RoundUp(std::int64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

std::int64_t PieceAt(std::int64_t at, std::int64_t bytes) {
  return std::min(DiskPager::kPieceBytes, bytes - at);
}

std::byte* BytesOf(const Tensor& tensor) { return static_cast<std::byte*>(tensor.raw()); }

}  // namespace

std::int64_t DiskPager::BufferBytes(std::int64_t pieces_bytes) {
  const std::int64_t pieces = std::max<std::int64_t>(2, pieces_bytes / kPieceBytes);
  return pieces * kPieceBytes + kBlock;  // to begin at a multiple of it
}

DiskPager::DiskPager(const std::string& path, std::int64_t file_bytes, std::span<std::byte> buffers)
    : file_(path, file_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffers.data());
  std::byte* piece = buffers.data() + (kBlock - address % kBlock) % kBlock;
  const std::int64_t count = (std::ssize(buffers) - kBlock) / kPieceBytes;
  for (std::int64_t i = 0; i < count; ++i, piece += kPieceBytes) {
    (i < count / 2 ? to_write_ : to_read_).push_back(piece);
  }
  writer_ = std::thread([this] { Guarded(&DiskPager::WriteBehind); });
  reader_ = std::thread([this] { Guarded(&DiskPager::ReadAhead); });
}

DiskPager::~DiskPager() {
  {
    const Lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  writer_.join();
  reader_.join();
}

void DiskPager::Guarded(void (DiskPager::*work)()) {
  try {
    (this->*work)();
  } catch (...) {
    const Lock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  changed_.notify_all();
}

void DiskPager::ThrowIfFailed() const {
  if (failure_) std::rethrow_exception(failure_);
}

template <class Condition>
void DiskPager::WaitFor(Lock& lock, const Condition& condition) {
  using Clock = std::chrono::steady_clock;
  ThrowIfFailed();
  if (condition()) return;
  const auto begin = Clock::now();
  changed_.wait(lock, [&] { return failure_ != nullptr || condition(); });
  waited_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  ThrowIfFailed();
}

DiskPager::Writes& DiskPager::WritesOf(Place place) {
  if (place >= places_.size()) places_.resize(place + 1);
  return places_[place];
}

void DiskPager::WriteBehind() {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopped_ || !writes_.empty(); });
    if (stopped_) return;
    const Write write = writes_.front();
    writes_.pop_front();
    lock.unlock();
    const std::int64_t padded = RoundUp(write.bytes);
    std::fill(write.piece + write.bytes, write.piece + padded, std::byte{0});
    file_.Write(write.offset, {write.piece, static_cast<std::size_t>(padded)});
    lock.lock();
    to_write_.push_back(write.piece);
    if (write.is_last) ++WritesOf(write.place).done;
    changed_.notify_all();
  }
}

// Returns the first read that is not all asked for, where what it reads is on the disk.
DiskPager::Read* DiskPager::NextRead() {
  for (Read& read : reads_) {
    if (read.asked >= read.extent.bytes) continue;
    return WritesOf(read.place).done >= read.writes ? &read : nullptr;
  }
  return nullptr;
}

void DiskPager::ReadAhead() {
  Lock lock(mutex_);
  for (;;) {
    Read* read = nullptr;
    changed_.wait(lock, [&] {
      if (stopped_) return true;
      read = to_read_.empty() ? nullptr : NextRead();
      return read != nullptr;
    });
    if (stopped_) return;
    std::byte* piece = to_read_.back();
    to_read_.pop_back();
    const std::int64_t at = read->asked;
    const std::int64_t bytes = PieceAt(at, read->extent.bytes);
    const std::int64_t offset = read->extent.offset + at;
    read->asked += bytes;
    const std::int64_t forgotten = forgotten_;
    lock.unlock();
    file_.Read(offset, {piece, static_cast<std::size_t>(RoundUp(bytes))});
    lock.lock();
    (forgotten == forgotten_ ? (void)read->pieces.push_back(piece) : to_read_.push_back(piece));
    changed_.notify_all();
  }
}

void DiskPager::ForgetReads() {
  for (Read& read : reads_) {
    to_read_.insert(to_read_.end(), read.pieces.begin(), read.pieces.end());
  }
  reads_.clear();
  ++forgotten_;
  is_prefetched_ = false;
}

void DiskPager::Prefetch(const Script& script) {
  std::map<Place, std::int64_t> writes;
  for (const Event& event : script) {
    const auto [count, is_new] = writes.try_emplace(event.place, WritesOf(event.place).begun);
    if (event.out) {
      ++count->second;
    } else {
      Expect(event.place, count->second);
    }
  }
  is_prefetched_ = true;
  changed_.notify_all();
}

void DiskPager::DoBeginStep(std::int64_t key) {
  const Lock lock(mutex_);
  script_.clear();
  if (is_prefetched_ && key == key_) return;
  ForgetReads();
  key_ = key;
  const auto script = scripts_.find(key);
  if (script != scripts_.end()) Prefetch(script->second);
}

// The next step is most often one of the same key.
void DiskPager::DoEndStep() {
  const Lock lock(mutex_);
  if (scripts_.size() >= kMostScripts) scripts_.clear();
  const Script& script = scripts_[key_] = std::exchange(script_, {});
  ForgetReads();
  Prefetch(script);
}

void DiskPager::DoAbandonStep() {
  const Lock lock(mutex_);
  ForgetReads();
}

void DiskPager::DoPageOut(Place place, const Tensor& tensor) {
  Lock lock(mutex_);
  script_.push_back({place, true});
  ++WritesOf(place).begun;
  const std::int64_t bytes = tensor.bytes();
  for (std::int64_t at = 0; at < bytes; at += kPieceBytes) {
    WaitFor(lock, [&] { return !to_write_.empty(); });
    std::byte* piece = to_write_.back();
    to_write_.pop_back();
    const std::int64_t part = PieceAt(at, bytes);
    lock.unlock();
    CopyPage(piece, BytesOf(tensor) + at, part);
    lock.lock();
    writes_.push_back({place, ExtentOf(place).offset + at, part, piece, at + part == bytes});
    changed_.notify_all();
  }
}

void DiskPager::DoPageIn(Place place, const Tensor& tensor) {
  Lock lock(mutex_);
  script_.push_back({place, false});
  const std::int64_t writes = WritesOf(place).begun;
  if (reads_.empty() || reads_.front().place != place || reads_.front().writes != writes) {
    ForgetReads();
    Expect(place, writes);
    changed_.notify_all();
  }
  Read& read = reads_.front();
  const std::int64_t bytes = tensor.bytes();
  for (std::int64_t at = 0; at < bytes; at += kPieceBytes) {
    WaitFor(lock, [&] { return !read.pieces.empty(); });
    std::byte* piece = read.pieces.front();
    read.pieces.pop_front();
    lock.unlock();
    CopyPage(BytesOf(tensor) + at, piece, PieceAt(at, bytes));
    lock.lock();
    to_read_.push_back(piece);
    changed_.notify_all();
  }
  reads_.pop_front();
}

void DiskPager::DoReadPart(Place place, std::int64_t offset, std::span<std::byte> part) {
  Lock lock(mutex_);
  ForgetReads();
  WaitFor(lock, [&] {
    const Writes& writes = WritesOf(place);
    return writes.done == writes.begun && !to_read_.empty();
  });
  std::byte* piece = to_read_.back();
  to_read_.pop_back();
  while (!part.empty()) {
    const std::int64_t skipped = offset % kBlock;
    const std::int64_t bytes = std::min(kPieceBytes - skipped, std::ssize(part));
    file_.Read(ExtentOf(place).offset + offset - skipped,
               {piece, static_cast<std::size_t>(RoundUp(skipped + bytes))});
    std::memcpy(part.data(), piece + skipped, static_cast<std::size_t>(bytes));
    part = part.subspan(static_cast<std::size_t>(bytes));
    offset += bytes;
  }
  to_read_.push_back(piece);
}

}  // namespace frugal

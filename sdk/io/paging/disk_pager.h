#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sdk/io/paging/page_file.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

// Pages to a file. One thread writes behind what is paged out, another reads ahead what the last
// step of the same key paged in, in its order; both through pieces of memory that are given, so
// that a page file takes no more than these. What was paged out is read only when it is on the
// disk. Errors of the threads are thrown by the next call.
class DiskPager final : public TensorPager {
 public:
  // Returns the bytes of memory for so many bytes of pieces.
  static std::int64_t BufferBytes(std::int64_t pieces_bytes);
  // Half of the pieces wait to be written, half were read ahead; there is at least one of each. The
  // file has room for `file_bytes`: places behind that are refused by an error of the file.
  DiskPager(const std::string& path, std::int64_t file_bytes, std::span<std::byte> buffers);
  ~DiskPager() override;

  // How long steps waited for the file so far.
  double waited_seconds() const { return waited_seconds_; }

  static constexpr std::int64_t kPieceBytes = 1 << 20;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Counts how often a place was paged out, and how much of that is on the disk.
  struct Writes {
    std::int64_t begun = 0;
    std::int64_t done = 0;
  };
  struct Write {
    Place place = 0;
    std::int64_t offset = 0;  // in the file
    std::int64_t bytes = 0;
    std::byte* piece = nullptr;
    bool is_last = false;
  };
  // A place that is read once so many of its writes are done.
  struct Read {
    Place place = 0;
    Extent extent{};
    std::int64_t writes = 0;
    std::int64_t asked = 0;  // bytes of it that were read, or are being read
    std::deque<std::byte*> pieces{};
  };
  struct Event {
    Place place = 0;
    bool out = false;

    bool operator==(const Event&) const = default;
  };
  using Script = std::vector<Event>;

  void DoPageOut(Place place, const Tensor& tensor) override;
  void DoPageIn(Place place, const Tensor& tensor) override;
  void DoReadPart(Place place, std::int64_t offset, std::span<std::byte> part) override;
  void DoBeginStep(std::int64_t key) override;
  void DoEndStep() override;
  void DoAbandonStep() override;

  void WriteBehind();
  void ReadAhead();
  // Runs a thread's work; keeps what it throws.
  void Guarded(void (DiskPager::*work)());
  Writes& WritesOf(Place place);
  // Waits, in the training's thread, until the condition holds or a thread has failed, which
  // throws.
  template <class Condition>
  void WaitFor(Lock& lock, const Condition& condition);
  void ThrowIfFailed() const;
  Read* NextRead();
  void Expect(Place place, std::int64_t writes) {
    reads_.push_back({.place = place, .extent = ExtentOf(place), .writes = writes});
  }
  void Prefetch(const Script& script);
  void ForgetReads();

  PageFile file_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte*> to_write_, to_read_;  // pieces that are free
  std::deque<Write> writes_;
  std::deque<Read> reads_;
  std::int64_t forgotten_ = 0;  // how often the reads were
  std::vector<Writes> places_;
  std::map<std::int64_t, Script> scripts_;  // of steps by their keys
  Script script_;                           // of the step that runs
  std::int64_t key_ = 0;                    // of it, or of the one that is read ahead for
  bool is_prefetched_ = false;
  std::exception_ptr failure_;
  bool stopped_ = false;
  double waited_seconds_ = 0;
  std::thread writer_, reader_;
};

}  // namespace frugal

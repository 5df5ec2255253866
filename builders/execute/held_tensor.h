#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace frugal {

// A tensor that one thread writes to a file while another trains on (copy on write): what has not
// been read of it yet is copied when it is about to change. Threads: one reads, one changes.
class HeldTensor {
 public:
  // `live` and `room`, which is as large, stay where they are until all is read.
  HeldTensor(std::span<const std::byte> live, std::span<std::byte> room)
      : source_(live), room_(room) {}

  // Copies the part that begins at `offset`. Parts are read once, in order.
  void Read(std::int64_t offset, std::span<std::byte> part);
  // Copies what has not been read, unless it is copied already; kernels' threads take part. The
  // tensor may change from then on.
  void BeforeChange();

 private:
  std::mutex mutex_;
  std::span<const std::byte> source_;  // the tensor, or its copy
  std::span<std::byte> room_;
  std::size_t read_ = 0;
};

}  // namespace frugal

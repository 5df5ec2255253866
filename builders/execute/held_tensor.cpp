#include "builders/execute/held_tensor.h"

#include <cstring>

#include "sdk/core/threads.h"

namespace frugal {
namespace {

constexpr std::int64_t kCopiedAtATime = 1 << 20;

void CopyBytes(std::span<const std::byte> from, std::byte* to) {
  ParallelFor(std::ssize(from), kCopiedAtATime, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace

void HeldTensor::Read(std::int64_t offset, std::span<std::byte> part) {
  const std::scoped_lock lock(mutex_);
  std::memcpy(part.data(), source_.data() + offset, part.size());
  read_ = static_cast<std::size_t>(offset) + part.size();
}

void HeldTensor::BeforeChange() {
  const std::scoped_lock lock(mutex_);
  if (read_ == source_.size() || source_.data() == room_.data()) return;
  CopyBytes(source_.subspan(read_), room_.data() + read_);
  source_ = room_;
}

}  // namespace frugal

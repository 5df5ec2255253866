#include "sdk/memory/keep_alive_allocator.h"

namespace frugal {

std::size_t KeepAliveAllocator::FreePlace() {
  if (free_places_.empty()) {
    held_.emplace_back();
    free_places_.reserve(held_.capacity());  // so that giving back cannot fail
    return held_.size() - 1;
  }
  const std::size_t at = free_places_.back();
  free_places_.pop_back();
  return at;
}

Block KeepAliveAllocator::DoAllocate(std::int64_t bytes, MemoryTag tag) {
  Block block = upstream_.Allocate(bytes, tag);
  void* data = block.data();
  const std::size_t at = FreePlace();
  held_[at] = {std::move(block), source_.lock()};
  return Block(this, data, bytes, tag, static_cast<std::int64_t>(at));
}

void KeepAliveAllocator::DoFree(Block& block) noexcept {
  const auto at = static_cast<std::size_t>(block.handle());
  // Dies last, and this allocator perhaps with it.
  const std::shared_ptr<const void> source = std::move(held_[at].source);
  held_[at].block = Block();
  free_places_.push_back(at);
}

}  // namespace frugal

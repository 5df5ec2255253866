#include "sdk/memory/planned_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr std::int64_t kPage = 4096;

std::int64_t RoundUpToPage(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

[[noreturn]] void ThrowOffPlan(const std::string& given) {
  throw UsageError({.where = "arena",
                    .required = "a step asks for the memory that was planned for it, in that order",
                    .given = given,
                    .advice = "plan this batch size and mode before running it"});
}

}  // namespace

PlannedArena::~PlannedArena() {
  if (base_ != nullptr) munmap(base_, static_cast<std::size_t>(capacity_));
}

void PlannedArena::Grow(std::int64_t bytes) {
  if (base_ != nullptr) munmap(base_, static_cast<std::size_t>(capacity_));
  base_ = nullptr;
  capacity_ = 0;
  const std::int64_t wanted = RoundUpToPage(bytes);
  void* base = mmap(nullptr, static_cast<std::size_t>(wanted), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    throw MemoryError({.where = "arena",
                       .required = FormatBytes(wanted) + " of address space for one step",
                       .given = "the system refuses them",
                       .advice = "use a smaller batch or gradient checkpointing"});
  }
  madvise(base, static_cast<std::size_t>(wanted), MADV_HUGEPAGE);
  base_ = static_cast<std::byte*>(base);
  capacity_ = wanted;
  ++growth_count_;
}

void PlannedArena::Begin(const ArenaLayout& layout) {
  if (live_blocks_ != 0 || layout_ != nullptr) ThrowOffPlan("another step is still under way");
  if (layout.arena_bytes > capacity_) Grow(std::max(layout.arena_bytes, reserve_));
  layout_ = &layout;
  next_item_ = 0;
  next_loop_ = 0;
  open_loops_.clear();
}

void PlannedArena::TurnLoops() {
  const std::vector<ArenaLayout::Loop>& loops = layout_->loops;
  while (!open_loops_.empty() && loops[open_loops_.back().number].end == next_item_) {
    OpenLoop& open = open_loops_.back();
    if (--open.turns_left == 0) {
      open_loops_.pop_back();
      continue;
    }
    next_item_ = loops[open.number].begin;
    next_loop_ = open.number + 1;
    break;
  }
  for (; next_loop_ < loops.size() && loops[next_loop_].begin == next_item_; ++next_loop_) {
    open_loops_.push_back({next_loop_, loops[next_loop_].times});
  }
}

void PlannedArena::End() {
  layout_ = nullptr;
  if (live_blocks_ != 0) {
    ThrowOffPlan(std::to_string(live_blocks_) + " of its blocks are still held after its end");
  }
  const std::int64_t kept = saved_bytes();
  if (kept < capacity_) {
    madvise(base_ + kept, static_cast<std::size_t>(capacity_ - kept), MADV_DONTNEED);
  }
}

std::int64_t PlannedArena::saved_bytes() const {
  return std::min(capacity_, kept_limit_ / kPage * kPage);
}

std::int64_t PlannedArena::ResidentBytes() const {
  if (base_ == nullptr) return 0;
  std::vector<unsigned char> pages(static_cast<std::size_t>(capacity_ / kPage));
  if (mincore(base_, static_cast<std::size_t>(capacity_), pages.data()) != 0) return 0;
  return kPage * std::ranges::count_if(pages, [](unsigned char page) { return page & 1; });
}

Block PlannedArena::DoAllocate(std::int64_t bytes, MemoryTag tag) {
  if (layout_ == nullptr) ThrowOffPlan(FormatBytes(bytes) + " outside of a step");
  TurnLoops();
  if (next_item_ >= layout_->items.size()) {
    ThrowOffPlan("one more block, of " + FormatBytes(bytes) + " of " + std::string(NameOf(tag)));
  }
  const ArenaLayout::Item& item = layout_->items[next_item_];
  if (item.bytes != bytes || item.tag != tag) {
    ThrowOffPlan(std::to_string(bytes) + " bytes of " + std::string(NameOf(tag)) + " where " +
                 std::to_string(item.bytes) + " of " + std::string(NameOf(item.tag)) +
                 " were planned (block " + std::to_string(next_item_) + ")");
  }
  ++next_item_;
  ++live_blocks_;
  return Block(this, base_ + item.offset, bytes, tag);
}

}  // namespace frugal

#pragma once

#include <vector>

#include "sdk/memory/allocator.h"
#include "sdk/memory/arena_layout.h"

namespace frugal {

// One address range in which a step's blocks lie at the offsets that were planned for it. Between
// steps it keeps at most `saved_bytes` of it; the rest goes back to the system.
class PlannedArena final : public Allocator {
 public:
  explicit PlannedArena(std::int64_t saved_bytes) : kept_limit_(saved_bytes) {}
  ~PlannedArena() override;

  // The first step takes at least this much, so that no later one has to grow the range.
  void ReserveFor(std::int64_t bytes) { reserve_ = bytes; }
  // Starts replaying `layout`, which must outlive the step. All blocks of the last step are gone.
  void Begin(const ArenaLayout& layout);
  // Ends it. Throws UsageError where a block of the step is still held.
  void End();
  // Ends it after an error, whose unwinding has already given back the step's blocks.
  void Abandon() noexcept { layout_ = nullptr; }

  std::int64_t capacity_bytes() const { return capacity_; }    // address range in use
  std::int64_t saved_bytes() const;                            // held between steps
  std::int64_t growth_count() const { return growth_count_; }  // requests to the system
  // Returns how much of the range is resident, as the system tells.
  std::int64_t ResidentBytes() const;

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block&) noexcept override { --live_blocks_; }
  void Grow(std::int64_t bytes);
  // Goes back to the beginning of loops whose turn is over, and into those that begin.
  void TurnLoops();

  std::int64_t kept_limit_;
  std::int64_t reserve_ = 0;
  std::byte* base_ = nullptr;
  std::int64_t capacity_ = 0;
  std::int64_t growth_count_ = 0;
  const ArenaLayout* layout_ = nullptr;
  std::size_t next_item_ = 0;
  struct OpenLoop {
    std::size_t number;
    std::int64_t turns_left;  // this one included
  };
  std::vector<OpenLoop> open_loops_;  // each inside the one before it
  std::size_t next_loop_ = 0;
  std::int64_t live_blocks_ = 0;
};

}  // namespace frugal

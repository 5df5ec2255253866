#pragma once

#include <array>
#include <cstdint>

#include "sdk/backend/onednn/attention/attention_plan.h"

namespace frugal::onednn {

// Some rows, in bytes; `row` from one to the next.
struct ByteRows {
  const char* data;
  std::int64_t row, count, width;
};

// Rows of a head lie far apart, so that no processor foresees them, and to wait for each costs
// about as much as the products of short sequences. What the next tile reads and this one writes is
// asked for piece by piece while this one is computed.
class RowPrefetcher {
 public:
  // Expects about `steps` calls of Step() from here on.
  void Begin(std::int64_t steps) { steps_ = steps < 1 ? 1 : steps, count_ = 0; }
  void Add(const ByteRows& rows, bool to_write = false);
  void Step();

 private:
  struct Rows {
    ByteRows left;
    std::int64_t per_step;
    bool to_write;
  };

  std::array<Rows, 8> rows_;
  std::size_t count_ = 0;
  std::int64_t steps_ = 1;
};

// Names an item of a task. The functions below schedule what a thread writes for this item, and
// what it reads for the one after it, if it goes on with the next task then.
struct TaskItem {
  std::int64_t task, item;
};
void ScheduleForwardPrefetch(const AttentionInputs& inputs, const TaskItem& now, std::int64_t steps,
                             const Tensor& y, RowPrefetcher& upcoming);
void ScheduleBackwardPrefetch(const AttentionInputs& inputs, const TaskItem& now,
                              std::int64_t steps, const BackwardInputs& given, const HeadsView& dq,
                              RowPrefetcher& upcoming);

}  // namespace frugal::onednn

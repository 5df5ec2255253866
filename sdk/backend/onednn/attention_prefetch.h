#pragma once

#include <array>

#include "sdk/backend/onednn/attention_tiles.h"
#include "sdk/backend/onednn/simd/attention_matrix.h"

namespace frugal::onednn {

// Rows of a head lie far apart, so that no processor foresees them, and to wait for each costs
// about as much as the products of short sequences. What the next tile reads and this one writes is
// asked for piece by piece while this one is computed.
class RowPrefetcher {
 public:
  // From here on there are `steps` calls of Step().
  void Begin(std::int64_t steps) { steps_ = std::max<std::int64_t>(1, steps), count_ = 0; }
  void Add(const simd::MatrixRows& rows, bool to_write = false);
  void Step();

 private:
  struct Rows {
    simd::MatrixRows left;
    std::int64_t per_step;
    bool to_write;
  };

  std::array<Rows, 8> rows_;
  std::size_t count_ = 0;
  std::int64_t steps_ = 1;
};

// A tile's rows of a view, and of the key head of a task the `part`th of `parts`.
simd::MatrixRows RowsOfTile(const AttentionInputs& inputs, const HeadsView& view, std::int64_t task,
                            std::int64_t item);
simd::MatrixRows RowsOfKeys(const AttentionInputs& inputs, const HeadsView& view, std::int64_t task,
                            std::int64_t item);

// The item that a thread does after this one, if it goes on with the next task.
struct TaskItem {
  std::int64_t task, item;
};
TaskItem ItemAfter(const AttentionPlan& plan, const TaskItem& now);

}  // namespace frugal::onednn

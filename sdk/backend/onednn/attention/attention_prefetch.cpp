#include "sdk/backend/onednn/attention/attention_prefetch.h"

namespace frugal::onednn {
namespace {

void Prefetch(const ByteRows& rows, bool to_write) {
  constexpr std::int64_t kLine = 64;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const char* const first = rows.data + r * rows.row;
    const char* const end = first + rows.width;
    for (const char* line = first - reinterpret_cast<std::uintptr_t>(first) % kLine; line < end;
         line += kLine) {
      if (to_write) {
        __builtin_prefetch(line, 1, 2);
      } else {
        __builtin_prefetch(line, 0, 2);
      }
    }
  }
}

// Positions [first, first + count) of a head.
ByteRows RowsAt(const AttentionInputs& inputs, const HeadsView& view, std::int64_t batch,
                std::int64_t head, const RowRange& range) {
  const std::int64_t width = inputs.geometry.head_size, size = SizeOf(inputs.dtype);
  const Shape& shape = view.tensor.shape();  // [B, T, row]
  const std::int64_t at = (batch * shape[1] + range.first) * shape[2] + view.offset + head * width;
  return {static_cast<const char*>(view.tensor.raw()) + at * size, shape[2] * size, range.count,
          width * size};
}

// A tile's rows of a view.
ByteRows RowsOfTile(const AttentionInputs& inputs, const HeadsView& view, const TaskItem& at) {
  const AttentionGeometry& g = inputs.geometry;
  if (at.task >= inputs.plan.Tasks()) return {};
  const QueryTile tile = inputs.plan.Tile(g, at.task, at.item);
  const std::int64_t batch = at.task / inputs.plan.chunks / g.key_heads;
  return RowsAt(inputs, view, batch, tile.head, {tile.first, tile.count});
}

// Returns as large a part of the rows of a task's key head as the item is of the task.
ByteRows RowsOfKeys(const AttentionInputs& inputs, const HeadsView& view, const TaskItem& at) {
  const AttentionGeometry& g = inputs.geometry;
  const AttentionPlan& plan = inputs.plan;
  if (at.task >= plan.Tasks()) return {};
  const std::int64_t key_head = at.task / plan.chunks, parts = plan.Items();
  const std::int64_t begin = at.item * g.key_length / parts;
  const std::int64_t end = (at.item + 1) * g.key_length / parts;
  return RowsAt(inputs, view, key_head / g.key_heads, key_head % g.key_heads, {begin, end - begin});
}

TaskItem ItemAfter(const AttentionPlan& plan, const TaskItem& now) {
  if (now.item + plan.chunks < plan.Items()) return {now.task, now.item + plan.chunks};
  return {now.task + 1, (now.task + 1) % plan.chunks};
}

void AddNextKeys(const AttentionInputs& inputs, const TaskItem& now, RowPrefetcher& upcoming) {
  for (const HeadsView* view : {&inputs.k, &inputs.v}) {
    upcoming.Add(RowsOfKeys(inputs, *view, {now.task + 1, now.item}));
  }
}

}  // namespace

void RowPrefetcher::Add(const ByteRows& rows, bool to_write) {
  if (rows.count <= 0 || count_ == rows_.size()) return;
  rows_[count_++] = {rows, (rows.count + steps_ - 1) / steps_, to_write};
}

void RowPrefetcher::Step() {
  for (std::size_t i = 0; i < count_; ++i) {
    Rows& rows = rows_[i];
    ByteRows piece = rows.left;
    piece.count = std::min(rows.per_step, rows.left.count);
    Prefetch(piece, rows.to_write);
    rows.left.data += piece.count * piece.row;
    rows.left.count -= piece.count;
  }
}

void ScheduleForwardPrefetch(const AttentionInputs& inputs, const TaskItem& now, std::int64_t steps,
                             const Tensor& y, RowPrefetcher& upcoming) {
  upcoming.Begin(steps);
  upcoming.Add(RowsOfTile(inputs, {y, 0}, now), true);
  upcoming.Add(RowsOfTile(inputs, inputs.q, ItemAfter(inputs.plan, now)));
  AddNextKeys(inputs, now, upcoming);
}

void ScheduleBackwardPrefetch(const AttentionInputs& inputs, const TaskItem& now,
                              std::int64_t steps, const BackwardInputs& given, const HeadsView& dq,
                              RowPrefetcher& upcoming) {
  const TaskItem next = ItemAfter(inputs.plan, now);
  upcoming.Begin(steps);
  upcoming.Add(RowsOfTile(inputs, dq, now), true);
  for (const HeadsView& view : {inputs.q, HeadsView{given.dy, 0}, HeadsView{given.y, 0}}) {
    upcoming.Add(RowsOfTile(inputs, view, next));
  }
  AddNextKeys(inputs, now, upcoming);
  // Gradients of keys are written at once at the end of a task.
  if (inputs.plan.chunks > 1) return;
  upcoming.Add(RowsOfKeys(inputs, given.dk, now), true);
  upcoming.Add(RowsOfKeys(inputs, given.dv, now), true);
}

}  // namespace frugal::onednn

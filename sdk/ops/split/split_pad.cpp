#include "sdk/ops/split/split_pad.h"

#include "sdk/ops/split/window_exchange.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

PaddedSlice FitSlice(Context& context, const Shape& whole, std::size_t axis, PaddedSlice slice) {
  const std::int64_t extent = whole[axis];
  if (slice.end == PaddedSlice::kToTheEnd) slice.end = extent;
  const bool fits = 0 <= slice.begin && slice.begin <= slice.end && slice.end <= extent;
  if (fits && slice.low >= 0 && slice.high >= 0) return slice;
  ThrowShape(context,
             "axis " + std::to_string(axis) + " is sliced within its " + std::to_string(extent) +
                 " positions and padded by 0 or more, not [" + std::to_string(slice.begin) + ", " +
                 std::to_string(slice.end) + ") by " + std::to_string(slice.low) + " and " +
                 std::to_string(slice.high),
             whole, "slice where padding is negative");
}

std::int64_t ExtentOf(const PaddedSlice& slice) {
  return slice.low + slice.end - slice.begin + slice.high;
}

// Positions of the input under these of the output; padding lies outside of the slice.
Interval Under(const PaddedSlice& slice, const Interval& output) {
  const std::int64_t shift = slice.begin - slice.low;
  return {output.begin + shift, output.end + shift};
}

std::vector<Interval> NeededBy(const PaddedSlice& slice, int parts) {
  std::vector<Interval> needed;
  needed.reserve(static_cast<std::size_t>(parts));
  for (int index = 0; index < parts; ++index) {
    const Interval output = SplitInterval(ExtentOf(slice), parts, index);
    needed.push_back(Intersect(Under(slice, output), Interval{slice.begin, slice.end}));
  }
  return needed;
}

}  // namespace

SplitTensor SplitPad(Context& context, const SplitTensor& x, const PaddedSlice& row_slice,
                     const PaddedSlice& column_slice) {
  CheckSplit(context, x);
  const SplitLayout& from = x.layout;
  const PaddedSlice rows = FitSlice(context, from.whole, from.row_axis, row_slice);
  const PaddedSlice columns = FitSlice(context, from.whole, from.column_axis, column_slice);
  SplitLayout to = from;
  to.whole[to.row_axis] = ExtentOf(rows);
  to.whole[to.column_axis] = ExtentOf(columns);
  const WindowExchange exchange{from, NeededBy(rows, from.grid.rows.parts),
                                NeededBy(columns, from.grid.columns.parts)};
  const Box output = to.OwnBox();
  const Box place{Under(rows, output.rows), Under(columns, output.columns)};

  const Tensor y = context.Allocate(to.OwnShape(), x.own.dtype());
  std::vector<Piece> pieces = ReceiveStrips(context, exchange, x.own.value);
  pieces.insert(pieces.begin(), WholePiece(x.own.value, from.OwnBox()));
  Assemble(context, from, pieces, {y, place, exchange.OwnWindow()});
  const Var own = context.Record(
      y, x.own.needs_gradient(),
      [exchange, place, slot = x.own.slot](Context& ctx, const Tensor& dy) {
        ctx.Accumulate(slot, ReturnStrips(ctx, exchange, {dy, place, exchange.OwnWindow()}));
      });
  return {to, own};
}

}  // namespace frugal

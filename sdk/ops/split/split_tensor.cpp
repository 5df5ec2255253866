#include "sdk/ops/split/split_tensor.h"

#include "sdk/core/error.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

void CheckLine(const GridLine& line) {
  const bool stands = line.index >= 0 && line.index < line.parts;
  if (stands && (line.ranks == nullptr ||
                 (line.ranks->size() == line.parts && line.ranks->rank() == line.index))) {
    return;
  }
  throw UsageError(
      {.where = "split grid",
       .required = "a device stands where its rank says, within the grid",
       .given = "place " + std::to_string(line.index) + " of " + std::to_string(line.parts),
       .advice = "make the grid by GridRanks or DryGrid"});
}

}  // namespace

Shape SplitLayout::ShapeOf(const Box& box) const {
  Shape shape = whole;
  shape[row_axis] = box.rows.size();
  shape[column_axis] = box.columns.size();
  return shape;
}

void CheckSplit(Context& context, const SplitTensor& x) {
  const SplitLayout& layout = x.layout;
  CheckLine(layout.grid.rows);
  CheckLine(layout.grid.columns);
  const std::size_t rank = layout.whole.rank();
  if (layout.row_axis >= rank || layout.column_axis >= rank ||
      layout.row_axis == layout.column_axis) {
    ThrowShape(context,
               "a tensor is split along two of its axes, not " + std::to_string(layout.row_axis) +
                   " and " + std::to_string(layout.column_axis),
               layout.whole, "name two axes, counted from 0");
  }
  if (!(x.own.shape() == layout.OwnShape())) {
    ThrowShape(
        context,
        "this device's part of " + ToString(layout.whole) + " is " + ToString(layout.OwnShape()),
        x.own.shape(), "split each axis as SplitInterval does");
  }
}

}  // namespace frugal

#pragma once

#include <cstddef>

#include "sdk/ops/split/interval.h"
#include "sdk/ops/split/split_grid.h"

namespace frugal {

// How a tensor is split over a grid: `row_axis` over its rows and `column_axis` over its columns,
// each by SplitInterval. All other axes are whole on every device.
struct SplitLayout {
  Shape whole;
  std::size_t row_axis = 0;
  std::size_t column_axis = 1;
  SplitGrid grid{};

  // These return what the devices of a grid row or column hold.
  Interval RowsOf(int index) const {
    return SplitInterval(whole[row_axis], grid.rows.parts, index);
  }
  Interval ColumnsOf(int index) const {
    return SplitInterval(whole[column_axis], grid.columns.parts, index);
  }
  Box OwnBox() const { return {RowsOf(grid.rows.index), ColumnsOf(grid.columns.index)}; }
  // The extents of that rectangle, with the other axes whole.
  Shape ShapeOf(const Box& box) const;
  Shape OwnShape() const { return ShapeOf(OwnBox()); }
};

// Images [N, H, W, C] with the height over rows and the width over columns.
inline SplitLayout SplitImages(const Shape& images, const SplitGrid& grid) {
  return {.whole = images, .row_axis = 1, .column_axis = 2, .grid = grid};
}

// A tensor of which this device holds its own part, of the shape layout.OwnShape().
struct SplitTensor {
  SplitLayout layout;
  Var own;
};

// Throws ShapeError where the axes are not two of the tensor's, or the part is not of its shape,
// and UsageError where the grid has no such place.
void CheckSplit(Context& context, const SplitTensor& x);

}  // namespace frugal

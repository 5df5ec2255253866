#pragma once

#include <memory>
#include <string_view>

#include "sdk/autograd/context.h"
#include "sdk/comm/communicator.h"

namespace frugal {

// The devices along one direction of a grid, and which of them this one is.
struct GridLine {
  int parts = 1;
  int index = 0;
  Communicator* ranks = nullptr;  // by index; null where a context is dry, or where there is one
};

// Devices in rows from north to south and columns from west to east. `rows` joins those of this
// device's column, who hold one another's rows, and `columns` those of its row. A plain value: the
// communicators belong to somebody else, such as GridRanks.
struct SplitGrid {
  GridLine rows;
  GridLine columns;
};

// Makes a grid of a group of ranks: rank r stands in row r / columns and column r % columns.
// Collective. Throws UsageError where the ranks are not as many as rows times columns. The group
// must outlive it.
class GridRanks {
 public:
  GridRanks(Communicator& ranks, int rows, int columns);

  SplitGrid grid() const;

 private:
  std::unique_ptr<Communicator> north_south_;
  std::unique_ptr<Communicator> east_west_;
};

// Returns the grid as the device in that place sees it, with nobody to talk to: for dry runs.
SplitGrid DryGrid(int rows, int columns, int row, int column);

// Returns the ranks of a line of several devices. Throws UsageError where it has none, as in a real
// run on the grid of a dry one.
Communicator& RanksOf(const GridLine& line, std::string_view what);

// Leaves the sum over all devices of the grid in each one's tensor (f32, f64 or bf16), first over
// rows and then over columns, each in the order of ranks: all get the bits of one sum.
void SumOverGrid(Context& context, const SplitGrid& grid, const Tensor& tensor,
                 std::string_view what);

}  // namespace frugal

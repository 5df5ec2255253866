#include "sdk/ops/split/split_grid.h"

#include <string>

#include "sdk/core/error.h"

namespace frugal {

GridRanks::GridRanks(Communicator& ranks, int rows, int columns) {
  if (rows < 1 || columns < 1 || ranks.size() / rows != columns || ranks.size() % rows != 0) {
    throw UsageError({.where = "split grid",
                      .required = "rows times columns of a grid are the ranks of its group",
                      .given = std::to_string(rows) + " x " + std::to_string(columns) + " of " +
                               std::to_string(ranks.size()) + " ranks",
                      .advice = "choose a grid of as many devices, or another group"});
  }
  east_west_ = ranks.Split(ranks.rank() / columns, "rows of the split grid");
  north_south_ = ranks.Split(ranks.rank() % columns, "columns of the split grid");
}

SplitGrid GridRanks::grid() const {
  return {.rows = {north_south_->size(), north_south_->rank(), north_south_.get()},
          .columns = {east_west_->size(), east_west_->rank(), east_west_.get()}};
}

SplitGrid DryGrid(int rows, int columns, int row, int column) {
  return {.rows = {.parts = rows, .index = row}, .columns = {.parts = columns, .index = column}};
}

Communicator& RanksOf(const GridLine& line, std::string_view what) {
  if (line.ranks != nullptr) return *line.ranks;
  throw UsageError({.where = std::string(what),
                    .required = "a grid of several devices has ranks that exchange buffers",
                    .given = "a grid of a dry run",
                    .advice = "make it by GridRanks"});
}

void SumOverGrid(Context& context, const SplitGrid& grid, const Tensor& tensor,
                 std::string_view what) {
  for (const GridLine* line : {&grid.rows, &grid.columns}) {
    if (line->parts == 1) continue;
    context.Launch({OperationKind::kCommunication, BytesOf(tensor, tensor)}, [&](Backend&, void*) {
      RanksOf(*line, what).AllReduce(BufferOf(tensor), what);
    });
  }
}

}  // namespace frugal

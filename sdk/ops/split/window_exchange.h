#pragma once

#include <span>
#include <vector>

#include "sdk/ops/split/split_tensor.h"

namespace frugal {

// The devices of a grid need rectangles of a split tensor: `rows` of it each row of the grid, and
// `columns` each column of it, all within the tensor. Every device knows what all have and need, so
// that nothing is negotiated: to each other it hands exactly what that one needs and it has.
struct WindowExchange {
  SplitLayout layout;
  std::vector<Interval> rows;     // by index in layout.grid.rows
  std::vector<Interval> columns;  // by index in layout.grid.columns

  // The rectangle that this device needs.
  Box OwnWindow() const;
};

// A rectangle of a split tensor: `tensor` holds `place`, of which `part` counts.
struct Piece {
  Tensor tensor;
  Box place;
  Box part;
};
inline Piece WholePiece(const Tensor& tensor, const Box& place) { return {tensor, place, place}; }

// Receives what this device needs and has not: strips of columns from its neighbours in the east
// and west first, then strips of rows from those in the north and south, with the corners that
// these got. Nothing of them meets another, or the own part. Takes memory for strips alone, those
// that it packs to send (given back at the end) and those that it returns.
std::vector<Piece> ReceiveStrips(Context& context, const WindowExchange& exchange,
                                 const Tensor& own);

// The transposed exchange: of numbers for each device's window (its `part` is OwnWindow), returns
// the sums that belong to the own part of the tensor, zero where no window reaches. What lies
// outside of a device's part goes back to whom it belongs. Sums go in one order: the device's own
// number, then those of north and south, then those of east and west, each by rank.
Tensor ReturnStrips(Context& context, const WindowExchange& exchange, const Piece& window);

// Writes target.tensor (all of target.place): the pieces that lie in its part, copied, or summed in
// their order where they meet, and zeros elsewhere.
void Assemble(Context& context, const SplitLayout& layout, std::span<const Piece> pieces,
              const Piece& target);

// Returns this device's window of the tensor: `own` itself where that is it, else a workspace that
// own and strips are copied to.
Tensor AssembleWindow(Context& context, const WindowExchange& exchange, const Tensor& own,
                      std::span<const Piece> strips);

}  // namespace frugal

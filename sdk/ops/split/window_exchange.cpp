#include "sdk/ops/split/window_exchange.h"

#include <memory>

#include "sdk/backend/array_kernels.h"

namespace frugal {
namespace {

std::size_t At(int index) { return static_cast<std::size_t>(index); }

enum class Direction { kEastWest, kNorthSouth };

const GridLine& LineOf(const SplitGrid& grid, Direction direction) {
  return direction == Direction::kEastWest ? grid.columns : grid.rows;
}

// A rectangle that goes to, or comes from, another rank of a line.
struct RankBox {
  int rank;
  Box box;
};
struct RankStrip {
  int rank;
  Piece strip;
};

// Those rows of this device that any device of its column needs: strips of columns are as high.
Interval RowsInUse(const WindowExchange& exchange) {
  const Interval has = exchange.layout.OwnBox().rows;
  Interval used{has.end, has.begin};
  for (const Interval& needed : exchange.rows) {
    const Interval both = Intersect(has, needed);
    if (both.empty()) continue;
    used = {std::min(used.begin, both.begin), std::max(used.end, both.end)};
  }
  return used.empty() ? Interval{has.begin, has.begin} : used;
}

// Device `to` gets this from device `from`; both stand in this device's line.
Box StripBetween(const WindowExchange& exchange, Direction direction, int from, int to) {
  const SplitLayout& layout = exchange.layout;
  if (direction == Direction::kEastWest) {
    return {RowsInUse(exchange), Intersect(layout.ColumnsOf(from), exchange.columns[At(to)])};
  }
  return {Intersect(layout.RowsOf(from), exchange.rows[At(to)]), exchange.OwnWindow().columns};
}

struct Strips {
  std::vector<RankBox> lent;      // other ranks need these
  std::vector<RankBox> borrowed;  // this rank needs these
};

Strips StripsOf(const WindowExchange& exchange, Direction direction) {
  const GridLine& line = LineOf(exchange.layout.grid, direction);
  Strips strips;
  for (int other = 0; other < line.parts; ++other) {
    if (other == line.index) continue;
    const Box lent = StripBetween(exchange, direction, line.index, other);
    if (!lent.empty()) strips.lent.push_back({other, lent});
    const Box borrowed = StripBetween(exchange, direction, other, line.index);
    if (!borrowed.empty()) strips.borrowed.push_back({other, borrowed});
  }
  return strips;
}

RankStrip TakeStrip(Context& context, const SplitLayout& layout, const RankBox& box, DType dtype) {
  const Shape shape = layout.ShapeOf(box.box);
  return {box.rank, WholePiece(context.Allocate(shape, dtype, MemoryTag::kCommunication), box.box)};
}

void Transfer(Context& context, const GridLine& line, std::span<const RankStrip> sent,
              std::span<const RankStrip> received) {
  if (sent.empty() && received.empty()) return;
  constexpr std::string_view kWhat = "strips of a split tensor";
  std::int64_t bytes = 0;
  for (const RankStrip& one : sent) bytes += BytesOf(one.strip.tensor);
  for (const RankStrip& one : received) bytes += BytesOf(one.strip.tensor);
  context.Launch({OperationKind::kCommunication, bytes}, [&](Backend&, void*) {
    Communicator& ranks = RanksOf(line, kWhat);
    std::vector<std::unique_ptr<PendingSend>> pending;
    for (const RankStrip& one : sent) {
      pending.push_back(ranks.StartSend(BufferOf(one.strip.tensor), one.rank, kWhat));
    }
    for (const RankStrip& one : received) {
      ranks.Receive(BufferOf(one.strip.tensor), one.rank, kWhat);
    }
    for (const auto& send : pending) send->Wait();
  });
}

// Sends rectangles of what the pieces hold, and adds those that arrive to the pieces.
void Exchange(Context& context, const SplitLayout& layout, Direction direction,
              std::span<const RankBox> sent, std::span<const RankBox> received,
              std::vector<Piece>& pieces) {
  const DType dtype = pieces.front().tensor.dtype();
  std::vector<RankStrip> packed, arriving;
  for (const RankBox& box : sent) {
    packed.push_back(TakeStrip(context, layout, box, dtype));
    Assemble(context, layout, pieces, packed.back().strip);
  }
  for (const RankBox& box : received) arriving.push_back(TakeStrip(context, layout, box, dtype));
  Transfer(context, LineOf(layout.grid, direction), packed, arriving);
  for (RankStrip& one : arriving) pieces.push_back(std::move(one.strip));
}

// `part` of a piece's tensor, of which it is a box.
StridedView ViewOf(const SplitLayout& layout, const Piece& piece, const Box& part) {
  StridedView view;
  std::int64_t stride = 1;
  for (std::size_t axis = layout.whole.rank(); axis-- > 0;) {
    view.strides[axis] = stride;
    stride *= piece.tensor.shape()[axis];
  }
  view.offset = (part.rows.begin - piece.place.rows.begin) * view.strides[layout.row_axis] +
                (part.columns.begin - piece.place.columns.begin) * view.strides[layout.column_axis];
  return view;
}

// A part of a piece on its way to the target; it adds where it meets one before.
struct Move {
  const Piece* from;
  Box part;
  bool adds;
};

std::vector<Move> MovesInto(std::span<const Piece> pieces, const Piece& target) {
  std::vector<Move> moves;
  for (const Piece& piece : pieces) {
    const Box part = Intersect(piece.part, target.part);
    if (part.empty()) continue;
    const bool meets = std::ranges::any_of(
        moves, [&](const Move& before) { return !Intersect(before.part, part).empty(); });
    moves.push_back({&piece, part, meets});
  }
  return moves;
}

bool Covers(std::span<const Move> moves, const Box& place) {
  if (moves.empty()) return false;
  if (moves.front().part == place) return true;
  std::int64_t area = 0;
  for (const Move& move : moves) {
    if (move.adds) return false;
    area += move.part.area();
  }
  return area == place.area();
}

}  // namespace

Box WindowExchange::OwnWindow() const {
  return {rows[At(layout.grid.rows.index)], columns[At(layout.grid.columns.index)]};
}

std::vector<Piece> ReceiveStrips(Context& context, const WindowExchange& exchange,
                                 const Tensor& own) {
  std::vector<Piece> pieces = {WholePiece(own, exchange.layout.OwnBox())};
  for (const Direction direction : {Direction::kEastWest, Direction::kNorthSouth}) {
    const Strips strips = StripsOf(exchange, direction);
    Exchange(context, exchange.layout, direction, strips.lent, strips.borrowed, pieces);
  }
  pieces.erase(pieces.begin());
  // Columns came for all rows that go on to others; in the window are those of its rows.
  for (Piece& piece : pieces) piece.part = Intersect(piece.part, exchange.OwnWindow());
  std::erase_if(pieces, [](const Piece& piece) { return piece.part.empty(); });
  return pieces;
}

Tensor ReturnStrips(Context& context, const WindowExchange& exchange, const Piece& window) {
  std::vector<Piece> pieces = {window};
  for (const Direction direction : {Direction::kNorthSouth, Direction::kEastWest}) {
    const Strips strips = StripsOf(exchange, direction);
    Exchange(context, exchange.layout, direction, strips.borrowed, strips.lent, pieces);
  }
  const Box own = exchange.layout.OwnBox();
  Tensor sum = context.Allocate(exchange.layout.OwnShape(), window.tensor.dtype());
  Assemble(context, exchange.layout, pieces, WholePiece(sum, own));
  return sum;
}

void Assemble(Context& context, const SplitLayout& layout, std::span<const Piece> pieces,
              const Piece& target) {
  const Tensor& to = target.tensor;
  if (to.size() == 0) return;
  const std::vector<Move> moves = MovesInto(pieces, target);
  if (!Covers(moves, target.place)) {
    context.Launch({OperationKind::kElementwise, BytesOf(to)},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(to, 0); });
  }
  for (const Move& move : moves) {
    const Shape extents = layout.ShapeOf(move.part);
    const std::int64_t passes = move.adds ? 3 : 2;
    context.Launch({OperationKind::kCopy, passes * extents.ElementCount() * SizeOf(to.dtype())},
                   [&](Backend& backend, void*) {
                     backend.array().CopyStrided(extents, move.from->tensor,
                                                 ViewOf(layout, *move.from, move.part), to,
                                                 ViewOf(layout, target, move.part), move.adds);
                   });
  }
}

Tensor AssembleWindow(Context& context, const WindowExchange& exchange, const Tensor& own,
                      std::span<const Piece> strips) {
  const Box has = exchange.layout.OwnBox();
  const Box window = exchange.OwnWindow();
  if (window == has) return own;
  Tensor result =
      context.Allocate(exchange.layout.ShapeOf(window), own.dtype(), MemoryTag::kWorkspace);
  std::vector<Piece> pieces = {WholePiece(own, has)};
  pieces.insert(pieces.end(), strips.begin(), strips.end());
  Assemble(context, exchange.layout, pieces, WholePiece(result, window));
  return result;
}

}  // namespace frugal

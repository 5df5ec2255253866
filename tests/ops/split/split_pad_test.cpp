// Slices and padding of split tensors: the numbers of whole ones, and the memory and messages of
// the strips that are exchanged.
#include "sdk/ops/split/split_pad.h"

#include <algorithm>
#include <array>

#include "sdk/core/error.h"
#include "sdk/ops/shape_ops.h"
#include "tests/catch.h"
#include "tests/ops/split/split_runs.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kRows = 3056;
constexpr std::int64_t kColumns = 12272;
constexpr PaddedSlice kLastColumn{.begin = kColumns - 1, .high = 122};

float ReportNumber(std::int64_t row, std::int64_t column) {
  return static_cast<float>((row * 131 + column * 7) % 65'521);
}

struct ReportRun {
  BytesByTag peak;
  std::int64_t peak_total = 0;
  Traffic north_south, east_west;
  std::int64_t wrong = 0;
};

SplitTensor ReportInput(const SplitGrid& grid, bool dry) {
  SplitLayout layout{.whole = {kRows, kColumns}, .grid = grid};
  const Box box = layout.OwnBox();
  const Tensor own(Heap(), dry ? Shape{0} : layout.OwnShape(), DType::kF32, MemoryTag::kActivation);
  if (dry) {
    static NullAllocator nowhere;
    return {layout, {Tensor(nowhere, layout.OwnShape(), DType::kF32, MemoryTag::kActivation)}};
  }
  float* at = own.data<float>();
  for (std::int64_t row = box.rows.begin; row < box.rows.end; ++row) {
    for (std::int64_t column = box.columns.begin; column < box.columns.end; ++column) {
      *at++ = ReportNumber(row, column);
    }
  }
  return {layout, {own}};
}

ReportRun RunReport(const SplitGrid& grid, bool dry) {
  EnvironmentKind kind = kReferenceF32;
  kind.dry = dry;
  TestEnvironment environment(kind);
  const SplitTensor x = ReportInput(grid, dry);
  const SplitTensor y = SplitPad(environment.context(), x, {}, kLastColumn);
  ReportRun run;
  run.peak = environment.ledger().peak();
  run.peak_total = environment.ledger().peak_total();
  if (dry) return run;
  run.north_south = grid.rows.ranks->traffic();
  run.east_west = grid.columns.ranks->traffic();
  const Box box = y.layout.OwnBox();
  const float* at = y.own.value.data<float>();
  for (std::int64_t row = box.rows.begin; row < box.rows.end; ++row) {
    for (std::int64_t column = box.columns.begin; column < box.columns.end; ++column) {
      const float expected = column == 0 ? ReportNumber(row, kColumns - 1) : 0;
      if (*at++ != expected) ++run.wrong;
    }
  }
  return run;
}

TEST_CASE("a device that pads the last column takes its part and that column", "[ops][split]") {
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  constexpr GridSize kGrid{2, 2};
  std::vector<ReportRun> runs(4);
  RunRanks(kind, kGrid.devices(), [&](Communicator& ranks) {
    const GridRanks grid(ranks, kGrid.rows, kGrid.columns);
    runs[static_cast<std::size_t>(ranks.rank())] = RunReport(grid.grid(), false);
  });
  constexpr std::int64_t kColumnBytes = kRows / 2 * 4;
  for (int rank = 0; rank < kGrid.devices(); ++rank) {
    INFO("rank " << rank);
    const ReportRun& run = runs[static_cast<std::size_t>(rank)];
    CHECK(run.wrong == 0);
    const bool west = rank % 2 == 0;  // of the result's 123 columns, 62 lie in the west
    const std::int64_t part = kRows / 2 * (west ? 62 : 61) * 4;
    CHECK(run.peak[MemoryTag::kActivation] == RoundUpToAlignment(part));
    CHECK(run.peak[MemoryTag::kCommunication] == RoundUpToAlignment(kColumnBytes));
    CHECK(run.peak_total == RoundUpToAlignment(part) + RoundUpToAlignment(kColumnBytes));
    CHECK(run.north_south == Traffic());
    CHECK(run.east_west == (west ? Traffic() : Traffic{1, kColumnBytes}));
    const ReportRun dry = RunReport(kGrid.At(rank), true);
    CHECK(dry.peak == run.peak);
    CHECK(dry.peak_total == run.peak_total);
  }
}

struct PadCase {
  SplitCase split;
  PaddedSlice rows, columns;
};

PaddedSlice DrawSlice(Draws& draws, std::int64_t extent) {
  PaddedSlice slice;
  slice.begin = draws.From(0, 2) == 0 ? draws.From(0, extent) : 0;
  if (draws.From(0, 2) == 0) slice.end = draws.From(slice.begin, extent);
  if (draws.From(0, 1) == 0) slice.low = draws.From(0, 9);
  if (draws.From(0, 1) == 0) slice.high = draws.From(0, 9);
  return slice;
}

PadCase DrawPad(Draws& draws) {
  PadCase one;
  constexpr std::array kKinds = {kReferenceF32, kReferenceF64, kOneDnnF32, kOneDnnBf16};
  one.split.kind = kKinds[static_cast<std::size_t>(draws.From(0, 3))];
  one.split.grid = {static_cast<int>(draws.From(1, 3)), static_cast<int>(draws.From(1, 3))};
  const std::int64_t rows = draws.From(1, 13), columns = draws.From(1, 13);
  const auto form = draws.From(0, 2);
  if (form == 0) one.split.layout = {{rows, columns}, 0, 1, {}};
  if (form == 1) one.split.layout = {{2, rows, columns, 3}, 1, 2, {}};
  if (form == 2) one.split.layout = {{columns, 2, rows}, 2, 0, {}};  // the column axis first
  one.rows = DrawSlice(draws, rows);
  one.columns = DrawSlice(draws, columns);
  return one;
}

SplitFunction PadBy(const PadCase& one) {
  return [&one](Context& context, const SplitTensor& x) {
    return SplitPad(context, x, one.rows, one.columns);
  };
}

Pass WholePad(const PadCase& one, const Tensor& x) {
  const SplitLayout& layout = one.split.layout;
  const auto row_axis = static_cast<std::int64_t>(layout.row_axis);
  const auto column_axis = static_cast<std::int64_t>(layout.column_axis);
  std::vector<std::int64_t> before(layout.whole.rank()), after(layout.whole.rank());
  before[layout.row_axis] = one.rows.low;
  after[layout.row_axis] = one.rows.high;
  before[layout.column_axis] = one.columns.low;
  after[layout.column_axis] = one.columns.high;
  TestEnvironment environment(one.split.kind);
  return RunPass(
      environment,
      [&](Context& context, const Var& whole) {
        const Var slice =
            Slice(context, whole,
                  {{.axis = row_axis, .begin = one.rows.begin, .end = one.rows.end},
                   {.axis = column_axis, .begin = one.columns.begin, .end = one.columns.end}});
        return Pad(context, slice, before, after);
      },
      x);
}

// The positions of the input that device `index` reads along an axis, one by one.
std::vector<std::int64_t> Read(PaddedSlice slice, std::int64_t extent, int parts, int index) {
  slice.end = std::min(slice.end, extent);
  const std::int64_t length = slice.low + slice.end - slice.begin + slice.high;
  std::vector<std::int64_t> positions;
  const std::int64_t each = (length + parts - 1) / parts;
  for (std::int64_t o = index * each; o < std::min(length, (index + 1) * each); ++o) {
    const std::int64_t position = o - slice.low + slice.begin;
    if (position >= slice.begin && position < slice.end) positions.push_back(position);
  }
  return positions;
}

std::int64_t CountHeld(const std::vector<std::int64_t>& positions, std::int64_t extent, int parts,
                       int index) {
  const std::int64_t each = (extent + parts - 1) / parts;
  return std::ranges::count_if(positions, [&](std::int64_t p) { return p / each == index; });
}

struct BothTraffic {
  Traffic north_south, east_west;
};

// The messages of a rank forward, by counting: columns of those of its rows that anybody reads, and
// rows as wide as its own window.
BothTraffic ExpectedTraffic(const PadCase& one, int rank) {
  const SplitLayout& layout = one.split.layout;
  const GridSize grid = one.split.grid;
  const int row = rank / grid.columns, column = rank % grid.columns;
  const std::int64_t height = layout.whole[layout.row_axis];
  const std::int64_t width = layout.whole[layout.column_axis];
  const std::int64_t element =
      height * width == 0
          ? 0
          : layout.whole.ElementCount() / (height * width) * SizeOf(one.split.kind.dtype);
  std::int64_t rows_in_use = 0;
  for (int other = 0; other < grid.rows; ++other) {
    rows_in_use += CountHeld(Read(one.rows, height, grid.rows, other), height, grid.rows, row);
  }
  const auto own_columns =
      static_cast<std::int64_t>(Read(one.columns, width, grid.columns, column).size());
  BothTraffic traffic;
  for (int other = 0; other < grid.columns; ++other) {
    if (other == column) continue;
    const auto read = Read(one.columns, width, grid.columns, other);
    traffic.east_west.AddMessage(CountHeld(read, width, grid.columns, column) * rows_in_use *
                                 element);
  }
  for (int other = 0; other < grid.rows; ++other) {
    if (other == row) continue;
    const auto read = Read(one.rows, height, grid.rows, other);
    traffic.north_south.AddMessage(CountHeld(read, height, grid.rows, row) * own_columns * element);
  }
  return traffic;
}

void CheckPad(const PadCase& one, RankKind kind) {
  const SplitCase& split = one.split;
  const Tensor x = RandomTensor(split.layout.whole, 5, split.kind.dtype);
  const std::vector<DeviceRun> runs = RunDevices(split, x, PadBy(one), kind);
  const Pass whole = WholePad(one, x);
  REQUIRE(runs.front().layout.whole == whole.output_shape);
  CHECK(SameBits(Joined(runs, runs.front().layout, split.grid, &DeviceRun::y), whole.output));
  CHECK(SameBits(Joined(runs, split.layout, split.grid, &DeviceRun::dx), whole.input_gradient));
  BothTraffic forward, both;
  for (int rank = 0; rank < split.grid.devices(); ++rank) {
    const DeviceRun& run = runs[static_cast<std::size_t>(rank)];
    const BothTraffic expected = ExpectedTraffic(one, rank);
    forward.north_south += expected.north_south;
    forward.east_west += expected.east_west;
    both.north_south += run.north_south;
    both.east_west += run.east_west;
    CHECK(run.lives == RunDryDevice(split, rank, PadBy(one)).lives);
  }
  // All that was borrowed goes back.
  CHECK(both.north_south ==
        Traffic{2 * forward.north_south.messages, 2 * forward.north_south.bytes});
  CHECK(both.east_west == Traffic{2 * forward.east_west.messages, 2 * forward.east_west.bytes});
}

TEST_CASE("split slices and padding have the bits of whole ones", "[ops][split]") {
  Draws draws(11);
  for (int i = 0; i < 150; ++i) {
    const PadCase one = DrawPad(draws);
    INFO("case " << i << ", " << one.split.kind << ": " << ToString(one.split.layout.whole)
                 << " on " << one.split.grid.rows << " x " << one.split.grid.columns << ", rows ["
                 << one.rows.begin << ", " << one.rows.end << ") + " << one.rows.low << ", "
                 << one.rows.high << ", columns [" << one.columns.begin << ", " << one.columns.end
                 << ") + " << one.columns.low << ", " << one.columns.high);
    CheckPad(one, i % 10 == 0 ? RankKind::kSharedMemory : RankKind::kThreads);
  }
}

TEST_CASE("split padding takes numbers of any type", "[ops][split]") {
  TestEnvironment environment(kReferenceF32);
  for (const DType dtype : {DType::kU8, DType::kI32, DType::kI64}) {
    const Tensor x = MakeTensor({1, 3}, std::vector<int>{4, 5, 6}, dtype);
    const SplitTensor y = SplitPad(environment.context(), {{.whole = {1, 3}}, {x}}, {.high = 1},
                                   {.begin = 1, .low = 1});
    CHECK(Values(y.own.value) == std::vector<double>{0, 5, 6, 0, 0, 0});
  }
}

TEST_CASE("split padding refuses what does not fit", "[ops][split]") {
  TestEnvironment environment(kReferenceF32);
  Context& context = environment.context();
  const SplitTensor x{{.whole = {4, 6}}, {RandomTensor({4, 6}, 1)}};
  CHECK_THROWS_AS(SplitPad(context, x, {.begin = 5}, {}), ShapeError);
  CHECK_THROWS_AS(SplitPad(context, x, {}, {.end = 7}), ShapeError);
  CHECK_THROWS_AS(SplitPad(context, x, {.low = -1}, {}), ShapeError);
  const SplitTensor part{{.whole = {4, 6}, .grid = DryGrid(2, 1, 0, 0)}, x.own};
  CHECK_THROWS_AS(SplitPad(context, part, {}, {}), ShapeError);  // a part is [2, 6]
  const SplitTensor twice{{.whole = {4, 6}, .row_axis = 1, .column_axis = 1}, x.own};
  CHECK_THROWS_AS(SplitPad(context, twice, {}, {}), ShapeError);
  const SplitTensor outside{{.whole = {4, 6}, .grid = DryGrid(2, 1, 2, 0)}, x.own};
  CHECK_THROWS_AS(SplitPad(context, outside, {}, {}), UsageError);
  const SplitTensor alone{{.whole = {8, 6}, .grid = DryGrid(2, 1, 0, 0)}, x.own};
  CHECK_THROWS_AS(SplitPad(context, alone, {.begin = 1}, {}), UsageError);  // nobody to talk to
  const auto self = MakeSelfCommunicator();
  CHECK_THROWS_AS(GridRanks(*self, 1, 2), UsageError);
}

}  // namespace
}  // namespace frugal::testing

#pragma once

#include <functional>
#include <vector>

#include "sdk/ops/split/split_tensor.h"
#include "tests/comm/rank_kinds.h"
#include "tests/support/passes.h"

// Operations on split tensors, run by the devices of a grid, and what they made put together.
namespace frugal::testing {

struct GridSize {
  int rows = 1;
  int columns = 1;

  int devices() const { return rows * columns; }
  SplitGrid At(int rank) const { return DryGrid(rows, columns, rank / columns, rank % columns); }
};

// Calls visit(index in the whole tensor, index in the part) for each element of a part.
inline void ForEachOfPart(const SplitLayout& layout,
                          const std::function<void(std::int64_t, std::int64_t)>& visit) {
  const Shape own = layout.OwnShape();
  const Box box = layout.OwnBox();
  for (std::int64_t i = 0; i < own.ElementCount(); ++i) {
    std::int64_t rest = i, index = 0, stride = 1;
    for (std::size_t axis = own.rank(); axis-- > 0;) {
      std::int64_t at = rest % own[axis];
      rest /= own[axis];
      if (axis == layout.row_axis) at += box.rows.begin;
      if (axis == layout.column_axis) at += box.columns.begin;
      index += at * stride;
      stride *= layout.whole[axis];
    }
    visit(index, i);
  }
}

inline std::byte* Element(const Tensor& tensor, std::int64_t i) {
  return static_cast<std::byte*>(tensor.raw()) + i * SizeOf(tensor.dtype());
}

inline Tensor PartOfWhole(const Tensor& whole, const SplitLayout& layout) {
  Tensor part = Uninitialized(layout.OwnShape(), whole.dtype());
  const auto bytes = static_cast<std::size_t>(SizeOf(whole.dtype()));
  ForEachOfPart(layout, [&](std::int64_t from, std::int64_t to) {
    std::memcpy(Element(part, to), Element(whole, from), bytes);
  });
  return part;
}

inline void PutPart(const Tensor& part, const SplitLayout& layout, const Tensor& whole) {
  const auto bytes = static_cast<std::size_t>(SizeOf(whole.dtype()));
  ForEachOfPart(layout, [&](std::int64_t to, std::int64_t from) {
    std::memcpy(Element(whole, to), Element(part, from), bytes);
  });
}

using SplitFunction = std::function<SplitTensor(Context&, const SplitTensor&)>;

// One device's pass forward and, from its part of a random gradient, back.
struct DeviceRun {
  SplitLayout layout;  // of the result
  Tensor y, dx;        // copies; empty in a dry run
  std::vector<Tensor> gradients;
  BytesByTag forward_peak;
  std::int64_t peak = 0;
  std::vector<std::int64_t> lives;  // bytes, begin, end of each block
  Traffic north_south, east_west;
};

struct SplitCase {
  EnvironmentKind kind;
  GridSize grid{};
  SplitLayout layout;  // of the input, on no grid
  std::vector<const Parameter*> parameters{};
  int passes = 1;
  bool deferred = false;  // gradients of weights wait for the end of each pass
};

inline Tensor GradientOfOutput(const Shape& shape, DType dtype) {
  return RandomTensor(shape, 99, dtype);
}

inline void RunDevicePasses(TestEnvironment& environment, const SplitCase& one,
                            const SplitTensor& input, const SplitFunction& function,
                            DeviceRun& run) {
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  DeferredGradients waiting;
  const DeferScope defer(context, Deferred::kWeights, one.deferred ? &waiting : nullptr);
  for (int pass = 0; pass < one.passes; ++pass) {
    const Var leaf{input.own.value, tape.NewSlot()};
    SplitTensor output = function(context, {input.layout, leaf});
    run.layout = output.layout;
    if (pass == 0) run.forward_peak = environment.ledger().peak();
    if (!one.kind.dry) run.y = CopyOf(output.own.value);
    const Tensor dy =
        PartOfWhole(GradientOfOutput(output.layout.whole, output.own.dtype()), output.layout);
    const int slot = std::exchange(output.own, Var()).slot;
    tape.Backward(context, slot, dy);
    waiting.Run(context);
    const Tensor dx = tape.TakeGradient(leaf.slot);
    if (!one.kind.dry) run.dx = CopyOf(dx);
  }
}

inline DeviceRun RunDevice(const SplitCase& one, const SplitTensor& input,
                           const SplitFunction& function) {
  TestEnvironment environment(one.kind);
  for (const Parameter* parameter : one.parameters) environment.store().Value(*parameter);
  MemoryTrace trace;
  environment.ledger().RecordInto(&trace);
  DeviceRun run;
  RunDevicePasses(environment, one, input, function, run);
  environment.ledger().RecordInto(nullptr);
  for (const Parameter* parameter : one.parameters) {
    const Tensor gradient = environment.store().Gradient(*parameter);
    run.gradients.push_back(gradient && !one.kind.dry ? CopyOf(gradient) : Tensor());
  }
  run.peak = environment.ledger().peak_total();
  for (const Lifetime& life : trace.lifetimes()) {
    run.lives.insert(run.lives.end(), {life.bytes, life.begin, life.end});
  }
  return run;
}

inline SplitLayout LayoutAt(const SplitCase& one, const SplitGrid& grid) {
  SplitLayout layout = one.layout;
  layout.grid = grid;
  return layout;
}

// All devices' runs, by rank.
inline std::vector<DeviceRun> RunDevices(const SplitCase& one, const Tensor& x,
                                         const SplitFunction& function,
                                         RankKind ranks = RankKind::kThreads) {
  std::vector<DeviceRun> runs(static_cast<std::size_t>(one.grid.devices()));
  RunRanks(ranks, one.grid.devices(), [&](Communicator& communicator) {
    const GridRanks grid(communicator, one.grid.rows, one.grid.columns);
    const SplitLayout layout = LayoutAt(one, grid.grid());
    const Tensor part = PartOfWhole(x, layout);
    DeviceRun& run = runs[static_cast<std::size_t>(communicator.rank())];
    run = RunDevice(one, {layout, {part}}, function);
    run.north_south = layout.grid.rows.ranks->traffic();
    run.east_west = layout.grid.columns.ranks->traffic();
  });
  return runs;
}

// One device's dry run, on its own.
inline DeviceRun RunDryDevice(SplitCase one, int rank, const SplitFunction& function) {
  one.kind.dry = true;
  const SplitLayout layout = LayoutAt(one, one.grid.At(rank));
  return RunDevice(one, {layout, {Uninitialized(layout.OwnShape(), one.kind.dtype)}}, function);
}

// The parts of the devices put together.
inline Tensor Joined(const std::vector<DeviceRun>& runs, const SplitLayout& layout,
                     const GridSize& grid, const Tensor DeviceRun::*part) {
  Tensor whole = Uninitialized(layout.whole, (runs.front().*part).dtype());
  for (int rank = 0; rank < grid.devices(); ++rank) {
    SplitLayout own = layout;
    own.grid = grid.At(rank);
    PutPart(runs[static_cast<std::size_t>(rank)].*part, own, whole);
  }
  return whole;
}

// Numbers that a test draws one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::int64_t From(std::int64_t least, std::int64_t most) {
    const double unit = UniformAt(seed_, count_++);
    return least + static_cast<std::int64_t>(unit * static_cast<double>(most - least + 1));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace frugal::testing

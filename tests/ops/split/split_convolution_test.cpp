// Convolutions over split images: the numbers of whole ones, and the messages of the halos.
#include "sdk/ops/split/split_convolution.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/ops/split/split_runs.h"

namespace frugal::testing {
namespace {

struct ConvCase {
  Shape images;
  std::int64_t channels = 2;
  WindowOptions window;
  std::int64_t groups = 1;
  GridSize grid{};
  bool bias = true;
  bool deferred = false;
};

struct ConvParameters {
  explicit ConvParameters(const ConvCase& one) {
    const Initializer initializer = Initializer::Uniform(-1, 1);
    weight = {.name = "weight",
              .path = "weight",
              .shape = {one.channels, one.images[3] / one.groups, one.window.kernel[1],
                        one.window.kernel[2]},
              .initializer = initializer};
    bias = {.name = "bias",
            .path = "bias",
            .shape = {one.channels},
            .initializer = initializer,
            .index = 1};
    if (!one.bias) return;
    given_bias = &bias;
  }
  ConvParameters(const ConvParameters&) = delete;
  ConvParameters& operator=(const ConvParameters&) = delete;

  std::vector<const Parameter*> All() const {
    std::vector<const Parameter*> all = {&weight};
    if (given_bias != nullptr) all.push_back(given_bias);
    return all;
  }

  Parameter weight, bias;
  const Parameter* given_bias = nullptr;
};

SplitFunction SplitConv(const ConvCase& one, const ConvParameters& parameters) {
  return [&](Context& context, const SplitTensor& x) {
    return SplitConvolution(context, x, parameters.weight, parameters.given_bias, one.window,
                            one.groups);
  };
}

// The whole convolution, as that of a grid of one device would be, by the operation that knows
// none.
DeviceRun RunWhole(const ConvCase& one, const SplitCase& split, const ConvParameters& parameters,
                   const Tensor& x) {
  return RunDevice(split, {SplitImages(one.images, {}), {x}},
                   [&](Context& context, const SplitTensor& in) -> SplitTensor {
                     const Var y = Convolution(context, in.own, parameters.weight,
                                               parameters.given_bias, one.window, one.groups);
                     return {SplitImages(y.shape(), {}), y};
                   });
}

void CheckConv(const ConvCase& one, const EnvironmentKind& kind, double tolerance,
               RankKind ranks = RankKind::kThreads) {
  INFO(kind << ", " << ToString(one.images) << " on " << one.grid.rows << " x " << one.grid.columns
            << ", kernel " << one.window.kernel[1] << " x " << one.window.kernel[2] << ", stride "
            << one.window.stride[1] << ", " << one.window.stride[2] << ", padding "
            << one.window.padding_begin[1] << ", " << one.window.padding_end[1] << ", "
            << one.window.padding_begin[2] << ", " << one.window.padding_end[2] << ", dilation "
            << one.window.dilation[1] << ", " << one.window.dilation[2] << ", groups "
            << one.groups);
  const ConvParameters parameters(one);
  // The gradients of a second pass are added to those of the first.
  const SplitCase split{kind, one.grid,    SplitImages(one.images, {}), parameters.All(),
                        2,    one.deferred};
  const Tensor x = RandomTensor(one.images, 5, kind.dtype);
  const std::vector<DeviceRun> runs = RunDevices(split, x, SplitConv(one, parameters), ranks);
  const DeviceRun whole = RunWhole(one, split, parameters, x);
  REQUIRE(runs.front().layout.whole == whole.layout.whole);
  const Tensor y = Joined(runs, whole.layout, one.grid, &DeviceRun::y);
  CHECK(RelativeError(y, whole.y) < tolerance);
  CHECK(RelativeError(Joined(runs, split.layout, one.grid, &DeviceRun::dx), whole.dx) < tolerance);
  for (int rank = 0; rank < one.grid.devices(); ++rank) {
    const DeviceRun& run = runs[static_cast<std::size_t>(rank)];
    REQUIRE(run.gradients.size() == whole.gradients.size());
    for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
      CHECK(RelativeError(run.gradients[i], whole.gradients[i]) < tolerance);
    }
    CHECK(SameBits(run.gradients, runs.front().gradients));
    const DeviceRun dry = RunDryDevice(split, rank, SplitConv(one, parameters));
    CHECK(run.lives == dry.lives);
    CHECK(run.peak == dry.peak);
  }
}

void DrawAxis(Draws& draws, std::size_t axis, std::int64_t extent, WindowOptions& window) {
  while (true) {
    window.kernel[axis] = draws.From(1, 5);
    window.dilation[axis] = draws.From(0, 2) == 0 ? 2 : 1;
    window.stride[axis] = draws.From(0, 1) == 0 ? draws.From(1, 4) : 1;
    const std::int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    window.padding_begin[axis] = draws.From(0, reach - 1);
    window.padding_end[axis] = draws.From(0, reach - 1);
    if (extent + window.padding_begin[axis] + window.padding_end[axis] >= reach) return;
  }
}

ConvCase DrawConv(Draws& draws) {
  ConvCase one;
  one.groups = draws.From(1, 2);
  one.channels = one.groups * draws.From(1, 3);
  one.images = {draws.From(1, 2), draws.From(1, 14), draws.From(1, 14),
                one.groups * draws.From(1, 3)};
  one.grid = {static_cast<int>(draws.From(1, 3)), static_cast<int>(draws.From(1, 3))};
  one.bias = draws.From(0, 2) > 0;
  one.deferred = draws.From(0, 3) == 0;
  DrawAxis(draws, 1, one.images[1], one.window);
  DrawAxis(draws, 2, one.images[2], one.window);
  return one;
}

TEST_CASE("split convolutions agree with whole ones", "[ops][split]") {
  Draws draws(3);
  for (int i = 0; i < 60; ++i) {
    INFO("case " << i);
    const ConvCase one = DrawConv(draws);
    CheckConv(one, kReferenceF64, 1e-12,
              i % 10 == 0 ? RankKind::kSharedMemory : RankKind::kThreads);
    if (i % 3 == 0) CheckConv(one, kReferenceF32, 1e-5);
    if (i % 3 == 1) CheckConv(one, kOneDnnF32, 1e-5);
  }
}

WindowOptions Padded3x3() {
  return {.kernel = {1, 3, 3}, .padding_begin = {0, 1, 1}, .padding_end = {0, 1, 1}};
}

TEST_CASE("halos come from as many neighbours as have them", "[ops][split]") {
  // A window over 17 rows, of which each device has 2.
  const ConvCase wide{.images = {1, 12, 3, 2},
                      .window = {.kernel = {1, 5, 1},
                                 .padding_begin = {0, 9, 0},
                                 .padding_end = {0, 7, 0},
                                 .dilation = {1, 4, 1}},
                      .grid = {6, 1}};
  CheckConv(wide, kReferenceF64, 1e-12);
  // Four columns of output: two of the six devices have none.
  const ConvCase few{.images = {1, 3, 20, 1},
                     .window = {.kernel = {1, 1, 5}, .stride = {1, 1, 5}},
                     .grid = {1, 6}};
  CheckConv(few, kReferenceF64, 1e-12);
  const ConvCase mnist{
      .images = {2, 28, 28, 4}, .channels = 8, .window = Padded3x3(), .grid = {2, 2}};
  for (const EnvironmentKind& kind : {kReferenceF32, kOneDnnF32}) CheckConv(mnist, kind, 1e-5);
}

TEST_CASE("a split convolution exchanges its halo and no more", "[ops][split]") {
  const ConvCase one{.images = {1, 8, 8, 3}, .window = Padded3x3(), .grid = {2, 2}};
  const ConvParameters parameters(one);
  const SplitCase split{kReferenceF32, one.grid, SplitImages(one.images, {}), parameters.All()};
  const auto runs = RunDevices(split, RandomTensor(one.images, 5), SplitConv(one, parameters));
  const std::int64_t column = std::int64_t{4} * 3 * 4,
                     row = std::int64_t{5} * 3 * 4;  // a row with its corner
  for (int rank = 0; rank < 4; ++rank) {
    const DeviceRun& run = runs[static_cast<std::size_t>(rank)];
    Traffic sums =
        AllReduceTraffic(parameters.weight.shape.ElementCount(), DType::kF32, 2, rank / 2);
    sums += AllReduceTraffic(2, DType::kF32, 2, rank / 2);
    Traffic north_south = sums;
    north_south += {2, 2 * row};  // forward and back
    CHECK(run.north_south == north_south);
    sums = AllReduceTraffic(parameters.weight.shape.ElementCount(), DType::kF32, 2, rank % 2);
    sums += AllReduceTraffic(2, DType::kF32, 2, rank % 2);
    sums += {2, 2 * column};
    CHECK(run.east_west == sums);
    // Forward takes the output, the halo twice (packed and arriving), the window and scratch.
    const BytesByTag& peak = run.forward_peak;
    CHECK(peak[MemoryTag::kActivation] == RoundUpToAlignment(std::int64_t{4} * 4 * 2 * 4));
    CHECK(peak[MemoryTag::kCommunication] ==
          RoundUpToAlignment(column) + 2 * RoundUpToAlignment(row));
  }
}

TEST_CASE("a split convolution without a halo copies nothing", "[ops][split]") {
  // Patches of 2 x 2, and rows that no window reads behind the last one.
  const ConvCase one{.images = {1, 8, 8, 3},
                     .window = {.kernel = {1, 1, 2}, .stride = {1, 2, 2}},
                     .grid = {2, 2},
                     .bias = false};
  CheckConv(one, kReferenceF64, 1e-12);
  ConvParameters parameters(one);
  parameters.weight.trainable = false;
  const SplitCase split{kReferenceF32, one.grid, SplitImages(one.images, {}), parameters.All()};
  const auto runs = RunDevices(split, RandomTensor(one.images, 5), SplitConv(one, parameters));
  TestEnvironment environment(kReferenceF32);
  const ConvGeometry geometry =
      FitConvolution(environment.context(), {1, 4, 4, 3}, parameters.weight, one.window, 1);
  const std::int64_t scratch = environment.backend().conv().ForwardScratch(geometry, DType::kF32);
  for (const DeviceRun& run : runs) {
    CHECK(run.north_south == Traffic());
    CHECK(run.east_west == Traffic());
    CHECK(run.forward_peak[MemoryTag::kCommunication] == 0);
    CHECK(run.forward_peak[MemoryTag::kWorkspace] == RoundUpToAlignment(scratch));
  }
}

TEST_CASE("a split convolution refuses what it cannot split", "[ops][split]") {
  TestEnvironment environment(kReferenceF32);
  Context& context = environment.context();
  const ConvCase one{.images = {1, 4, 4, 3}, .window = Padded3x3()};
  const ConvParameters parameters(one);
  const auto run = [&](const SplitTensor& x, const WindowOptions& window) {
    SplitConvolution(context, x, parameters.weight, nullptr, window, 1);
  };
  const Var own{RandomTensor(one.images, 1)};
  CHECK_NOTHROW(run({SplitImages(one.images, {}), own}, one.window));
  CHECK_THROWS_AS(run({{.whole = one.images, .row_axis = 2, .column_axis = 1}, own}, one.window),
                  ShapeError);
  CHECK_THROWS_AS(run({SplitImages({1, 4, 4, 2}, {}), {RandomTensor({1, 4, 4, 2}, 1)}}, one.window),
                  ShapeError);
  WindowOptions far = one.window;
  far.padding_end[1] = 3;
  CHECK_NOTHROW(run({SplitImages(one.images, {}), own}, far));
  CHECK_THROWS_AS(run({SplitImages({1, 8, 4, 3}, DryGrid(2, 1, 0, 0)), own}, far), ShapeError);
}

}  // namespace
}  // namespace frugal::testing

#include "sdk/backend/backend.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::Uninitialized;
using testing::Values;

// Fills in the output extents.
ConvGeometry Geometry(ConvGeometry g) {
  auto& w = g.window;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    w.output[a] = (w.input[a] + w.padding_begin[a] + w.padding_end[a] - reach) / w.stride[a] + 1;
  }
  return g;
}

struct Case {
  const char* name;
  ConvGeometry g;
};

const std::vector<Case> kCases = {
    {"one element", {.window = {}}},
    {"3x3 padded",
     {.window = {.batch = 2,
                 .input = {1, 6, 5},
                 .kernel = {1, 3, 3},
                 .padding_begin = {0, 1, 1},
                 .padding_end = {0, 1, 1}},
      .input_channels = 3,
      .output_channels = 4}},
    {"stride, uneven padding and kernel",
     {.window = {.batch = 1,
                 .input = {1, 9, 7},
                 .kernel = {1, 5, 2},
                 .stride = {1, 2, 3},
                 .padding_begin = {0, 2, 0},
                 .padding_end = {0, 1, 1}},
      .input_channels = 2,
      .output_channels = 5}},
    {"dilation",
     {.window = {.batch = 2,
                 .input = {1, 8, 8},
                 .kernel = {1, 3, 3},
                 .padding_begin = {0, 2, 2},
                 .padding_end = {0, 2, 2},
                 .dilation = {1, 2, 3}},
      .input_channels = 2,
      .output_channels = 3}},
    {"groups",
     {.window = {.batch = 2,
                 .input = {1, 5, 5},
                 .kernel = {1, 3, 3},
                 .padding_begin = {0, 1, 1},
                 .padding_end = {0, 1, 1}},
      .input_channels = 6,
      .output_channels = 9,
      .groups = 3}},
    {"depthwise",
     {.window = {.batch = 1, .input = {1, 5, 6}, .kernel = {1, 3, 3}, .stride = {1, 2, 2}},
      .input_channels = 4,
      .output_channels = 4,
      .groups = 4}},
    {"three axes",
     {.window = {.batch = 1,
                 .input = {4, 5, 3},
                 .kernel = {2, 3, 3},
                 .stride = {2, 1, 1},
                 .padding_begin = {1, 0, 1},
                 .padding_end = {1, 0, 1}},
      .input_channels = 2,
      .output_channels = 3}},
    {"signal, many channels",
     {.window = {.batch = 1,
                 .input = {1, 1, 40},
                 .kernel = {1, 1, 4},
                 .stride = {1, 1, 2},
                 .padding_begin = {0, 0, 1},
                 .padding_end = {0, 0, 1}},
      .input_channels = 35,
      .output_channels = 18}},
};

std::vector<Case> Cases() {
  std::vector<Case> cases = kCases;
  for (Case& c : cases) c.g = Geometry(c.g);
  return cases;
}

Shape InputShape(const ConvGeometry& g) {
  return {g.window.batch, g.window.input[0], g.window.input[1], g.window.input[2],
          g.input_channels};
}
Shape OutputShape(const ConvGeometry& g) {
  return {g.window.batch, g.window.output[0], g.window.output[1], g.window.output[2],
          g.output_channels};
}
Shape WeightShape(const ConvGeometry& g) {
  return {g.output_channels, g.input_channels / g.groups, g.window.kernel[0], g.window.kernel[1],
          g.window.kernel[2]};
}

// Flat positions of a tap: input, weight and output elements that multiply.
template <class Body>
void ForEachProduct(const ConvGeometry& g, const Body& body) {
  const auto& w = g.window;
  const std::int64_t inputs = g.input_channels / g.groups;
  const std::int64_t outputs = g.output_channels / g.groups;
  const auto flat = [](const Spatial& at, const Spatial& of) {
    return (at[0] * of[1] + at[1]) * of[2] + at[2];
  };
  const auto unflat = [](std::int64_t i, const Spatial& of) {
    return Spatial{i / of[2] / of[1], i / of[2] % of[1], i % of[2]};
  };
  for (std::int64_t n = 0; n < w.batch; ++n) {
    for (std::int64_t p = 0; p < w.OutputSize(); ++p) {
      for (std::int64_t k = 0; k < w.KernelSize(); ++k) {
        Spatial at = unflat(p, w.output);
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a) {
          at[a] = at[a] * w.stride[a] - w.padding_begin[a] + unflat(k, w.kernel)[a] * w.dilation[a];
          inside = inside && at[a] >= 0 && at[a] < w.input[a];
        }
        if (!inside) continue;
        for (std::int64_t o = 0; o < g.output_channels; ++o) {
          for (std::int64_t c = 0; c < inputs; ++c) {
            const std::int64_t channel = o / outputs * inputs + c;
            body((n * w.InputSize() + flat(at, w.input)) * g.input_channels + channel,
                 (o * inputs + c) * w.KernelSize() + k,
                 (n * w.OutputSize() + p) * g.output_channels + o);
          }
        }
      }
    }
  }
}

std::size_t Index(std::int64_t i) { return static_cast<std::size_t>(i); }

struct NaiveConv {
  std::vector<double> y;
  std::vector<double> dx;
  std::vector<double> dweight;
  std::vector<double> dbias;
};

NaiveConv Compute(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const Tensor& dy) {
  const auto xs = Values(x);
  const auto ws = Values(weight);
  const auto bs = Values(bias);
  const auto dys = Values(dy);
  NaiveConv naive = {std::vector<double>(dys.size()), std::vector<double>(xs.size()),
                     std::vector<double>(ws.size()), std::vector<double>(bs.size())};
  for (std::size_t i = 0; i < dys.size(); ++i) {
    naive.y[i] = bs[i % bs.size()];
    naive.dbias[i % bs.size()] += dys[i];
  }
  ForEachProduct(g, [&](std::int64_t i, std::int64_t k, std::int64_t o) {
    naive.y[Index(o)] += xs[Index(i)] * ws[Index(k)];
    naive.dx[Index(i)] += dys[Index(o)] * ws[Index(k)];
    naive.dweight[Index(k)] += dys[Index(o)] * xs[Index(i)];
  });
  return naive;
}

TEST_CASE("eigen convolution and its gradients equal plain loops") {
  const auto backend = MakeEigenBackend();
  auto& conv = backend->conv();
  const DType dtype = GENERATE(DType::kF32, DType::kF64);
  const double tolerance = dtype == DType::kF64 ? 1e-13 : 1e-6;
  for (const auto& [name, g] : Cases()) {
    INFO(name);
    const Tensor x = RandomTensor(InputShape(g), 1, dtype);
    const Tensor weight = RandomTensor(WeightShape(g), 2, dtype);
    const Tensor bias = RandomTensor({g.output_channels}, 3, dtype);
    const Tensor dy = RandomTensor(OutputShape(g), 4, dtype);
    const NaiveConv naive = Compute(g, x, weight, bias, dy);

    const Tensor y = Uninitialized(OutputShape(g), dtype);
    conv.Forward(g, x, weight, bias, y, {},
                 testing::ScratchOf(conv.ForwardScratch(g, dtype)).raw());
    CHECK(testing::RelativeError(y, naive.y) < tolerance);

    const Tensor dx = Uninitialized(InputShape(g), dtype);
    conv.BackwardData(g, dy, weight, dx,
                      testing::ScratchOf(conv.BackwardDataScratch(g, dtype)).raw());
    CHECK(testing::RelativeError(dx, naive.dx) < tolerance);

    const Tensor dweight = Uninitialized(WeightShape(g), dtype);
    const Tensor dbias = Uninitialized({g.output_channels}, dtype);
    const Tensor scratch = testing::ScratchOf(conv.BackwardWeightScratch(g, dtype, true, false));
    conv.BackwardWeight(g, dy, x, dweight, dbias, false, scratch.raw());
    CHECK(testing::RelativeError(dweight, naive.dweight) < tolerance);
    CHECK(testing::RelativeError(dbias, naive.dbias) < tolerance);

    conv.BackwardWeight(g, dy, x, dweight, dbias, true, scratch.raw());
    for (const auto& [twice, once] : {std::pair(dweight, naive.dweight), {dbias, naive.dbias}}) {
      auto halves = Values(twice);
      for (double& value : halves) value /= 2;
      CHECK(testing::RelativeError(halves, once) < tolerance);
    }
  }
}

TEST_CASE("eigen convolution without bias, with a fused activation") {
  const auto backend = MakeEigenBackend();
  auto& conv = backend->conv();
  const ConvGeometry g = Cases()[1].g;
  const Tensor x = RandomTensor(InputShape(g), 1);
  const Tensor weight = RandomTensor(WeightShape(g), 2);
  const Tensor none = testing::Full({g.output_channels}, 0);
  const Tensor y = Uninitialized(OutputShape(g));
  auto expected = Compute(g, x, weight, none, y).y;
  for (double& value : expected) value = std::max(value, 0.0);
  conv.Forward(g, x, weight, Tensor(), y, {Activation::kRelu, 0},
               testing::ScratchOf(conv.ForwardScratch(g, DType::kF32)).raw());
  CHECK(testing::MaxError(y, expected) < 1e-5);
}

TEST_CASE("eigen convolution stays in its scratch and gives the same bits on any thread count") {
  const auto backend = MakeEigenBackend();
  auto& conv = backend->conv();
  const int before = ThreadCount();
  const ConvGeometry g = Geometry({.window = {.batch = 3,
                                              .input = {1, 37, 41},
                                              .kernel = {1, 3, 3},
                                              .padding_begin = {0, 1, 1},
                                              .padding_end = {0, 1, 1}},
                                   .input_channels = 32,
                                   .output_channels = 20});
  constexpr std::int64_t kGuard = 4096;
  const auto guarded = [](std::int64_t bytes) { return testing::ScratchOf(bytes + kGuard); };
  const auto intact = [](const Tensor& scratch) {
    const auto bytes = scratch.values<std::uint8_t>().last(kGuard);
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0xff; });
  };
  const Tensor x = RandomTensor(InputShape(g), 1);
  const Tensor weight = RandomTensor(WeightShape(g), 2);
  const Tensor dy = RandomTensor(OutputShape(g), 3);
  std::vector<Tensor> outputs;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const Tensor y = Uninitialized(OutputShape(g));
    const Tensor dx = Uninitialized(InputShape(g));
    const Tensor dweight = Uninitialized(WeightShape(g));
    const Tensor forward = guarded(conv.ForwardScratch(g, DType::kF32));
    const Tensor data = guarded(conv.BackwardDataScratch(g, DType::kF32));
    const Tensor gradient = guarded(conv.BackwardWeightScratch(g, DType::kF32, false, false));
    conv.Forward(g, x, weight, Tensor(), y, {}, forward.raw());
    conv.BackwardData(g, dy, weight, dx, data.raw());
    conv.BackwardWeight(g, dy, x, dweight, Tensor(), false, gradient.raw());
    CHECK(intact(forward));
    CHECK(intact(data));
    CHECK(intact(gradient));
    outputs.insert(outputs.end(), {y, dx, dweight});
  }
  SetThreadCount(before);
  for (std::size_t i = 0; i < 3; ++i) CHECK(testing::SameBits(outputs[i], outputs[i + 3]));
}

}  // namespace
}  // namespace frugal

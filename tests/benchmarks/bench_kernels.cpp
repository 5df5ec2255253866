// Prints what the hot kernels of the fast backend reach, beside two limits measured in the same
// run: the best product (GFLOP/s) and a copy through memory (GB/s). Nothing here passes or fails.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "sdk/backend/backend.h"
#include "sdk/backend/machine/machine_limits.h"
#include "sdk/backend/state_codec.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::Uninitialized;

// Seconds of one call: the best of six rounds.
template <class Body>
double Seconds(const Body& body) {
  return BestInTurn<1>({[&] { body(); }}, 6)[0];
}

struct Limits {
  double gflops = 0;
  double gigabytes = 0;
};

class Bench {
 public:
  explicit Bench(BackendKind kind) : backend_(MakeBackend(kind)) {}

  void MeasureLimits();
  void Products(std::int64_t rows, std::int64_t inputs, std::int64_t outputs);
  void Bf16Products(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, bool accumulate);
  void Convolution(std::int64_t batch, std::int64_t extent, std::int64_t in, std::int64_t out);
  void Pooling(std::int64_t batch, std::int64_t extent, std::int64_t channels, std::int64_t kernel);
  void Norms(std::int64_t batch, std::int64_t size, std::int64_t channels);
  void Elementwise(std::int64_t size);
  void Activations(std::int64_t size, DType dtype);
  void Losses(std::int64_t rows, std::int64_t classes);
  void Optimizers(std::int64_t size);

 private:
  Tensor Scratch(std::int64_t bytes) { return Uninitialized({bytes}, DType::kU8); }
  template <class Body>
  void Flops(const std::string& name, double flops, const Body& body) {
    Print(name, flops / Seconds(body) / 1e9, limits_.gflops, "GFLOP/s");
  }
  template <class Body>
  void Bf16Flops(const std::string& name, double flops, const Body& body) {
    Print(name, flops / Seconds(body) / 1e9, bf16_gflops_, "GFLOP/s");
  }
  template <class Body>
  void Bytes(const std::string& name, double bytes, const Body& body) {
    Print(name, bytes / Seconds(body) / 1e9, limits_.gigabytes, "GB/s");
  }
  void Print(const std::string& name, double rate, double limit, const char* unit) {
    std::printf("  %-44s %8.1f %-8s %4.0f%% of the limit\n", name.c_str(), rate, unit,
                100 * rate / limit);
  }

  std::unique_ptr<Backend> backend_;
  Limits limits_;
  double bf16_gflops_ = 0;  // measured before the first product
};

void Bench::MeasureLimits() {
  const std::int64_t side = 1536;
  const Tensor x = RandomTensor({8 * side, 512}, 1), w = RandomTensor({512, 512}, 2);
  const Tensor y = Uninitialized({8 * side, 512});
  auto& product = backend_->product();
  const Tensor scratch = Scratch(product.LinearForwardScratch(x, w));
  const double flops = 2.0 * 8 * side * 512 * 512;
  limits_.gflops =
      flops / Seconds([&] { product.LinearForward(x, w, {}, {}, y, {}, scratch.raw()); }) / 1e9;
  const Tensor from = RandomTensor({1 << 23}, 3), to = Uninitialized({1 << 23});
  limits_.gigabytes = 2e-9 * static_cast<double>(from.bytes()) /
                      Seconds([&] { backend_->elementwise().Copy(from, to); });
  std::printf("%s, %d threads: product %.0f GFLOP/s, copy %.1f GB/s\n",
              std::string(backend_->name()).c_str(), ThreadCount(), limits_.gflops,
              limits_.gigabytes);
}

void Bench::Products(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const Tensor x = RandomTensor({rows, inputs}, 1), w = RandomTensor({outputs, inputs}, 2);
  const Tensor y = RandomTensor({rows, outputs}, 3), bias = RandomTensor({outputs}, 4);
  const Tensor dx = Uninitialized(x.shape()), dw = Uninitialized(w.shape());
  const Tensor db = Uninitialized(bias.shape());
  auto& product = backend_->product();
  const Tensor scratch =
      Scratch(std::max({product.LinearForwardScratch(x, w), product.LinearBackwardDataScratch(y, w),
                        product.LinearBackwardWeightScratch(y, x, false)}));
  std::printf("product %ld x %ld x %ld\n", static_cast<long>(rows), static_cast<long>(inputs),
              static_cast<long>(outputs));
  const auto flops = 2.0 * static_cast<double>(rows * inputs * outputs);
  Flops("backward data", flops,
        [&] { product.LinearBackwardData(y, w, dx, false, scratch.raw()); });
  Flops("backward weight and bias", flops,
        [&] { product.LinearBackwardWeight(y, x, dw, db, false, scratch.raw()); });
  Flops("forward, bias, relu", flops, [&] {
    product.LinearForward(x, w, bias, {}, y, {Activation::kRelu, 0}, scratch.raw());
  });
  const LinearWeight turned(RandomTensor({inputs, outputs}, 2), WeightLayout::kInOut);
  const Tensor turned_scratch = Scratch(product.LinearForwardScratch(x, turned));
  Flops("forward, bias, relu, weight [in, out]", flops, [&] {
    product.LinearForward(x, turned, bias, {}, y, {Activation::kRelu, 0}, turned_scratch.raw());
  });
}

void Bench::Bf16Products(std::int64_t rows, std::int64_t inputs, std::int64_t outputs,
                         bool accumulate) {
  if (bf16_gflops_ == 0) bf16_gflops_ = MeasureProductLimit(DType::kBF16, 0.3) / 1e9;
  if (bf16_gflops_ == 0) return;  // the processor has no such product
  const Tensor x = RandomTensor({rows, inputs}, 1, DType::kBF16);
  const Tensor y = RandomTensor({rows, outputs}, 2, DType::kBF16);
  const Tensor dx = Uninitialized(x.shape(), DType::kBF16);
  const Tensor dw = testing::Full({outputs, inputs}, 0), db = testing::Full({outputs}, 0);
  auto& product = backend_->product();
  LinearWeight weight(RandomTensor({outputs, inputs}, 3));
  weight.packed = Scratch(product.PackedWeightBytes(weight));
  product.PackWeight(weight, weight.packed);
  const Tensor scratch = Scratch(std::max({product.LinearForwardScratch(x, weight),
                                           product.LinearBackwardDataScratch(y, weight),
                                           product.LinearBackwardWeightScratch(y, x, accumulate)}));
  std::printf("bf16 product %ld x %ld x %ld\n", static_cast<long>(rows), static_cast<long>(inputs),
              static_cast<long>(outputs));
  const auto flops = 2.0 * static_cast<double>(rows * inputs * outputs);
  Bf16Flops("backward data", flops,
            [&] { product.LinearBackwardData(y, weight, dx, false, scratch.raw()); });
  Bf16Flops(accumulate ? "added to the gradient of weight and bias" : "backward weight and bias",
            flops, [&] { product.LinearBackwardWeight(y, x, dw, db, accumulate, scratch.raw()); });
  const Tensor out = Uninitialized(y.shape(), DType::kBF16);
  Bf16Flops("forward", flops,
            [&] { product.LinearForward(x, weight, {}, {}, out, {}, scratch.raw()); });
}

void Bench::Convolution(std::int64_t batch, std::int64_t extent, std::int64_t in,
                        std::int64_t out) {
  ConvGeometry g;
  g.window.batch = batch;
  g.window.input = g.window.output = {1, extent, extent};
  g.window.kernel = {1, 3, 3};
  g.window.padding_begin = g.window.padding_end = {0, 1, 1};
  g.input_channels = in;
  g.output_channels = out;
  const Tensor x = RandomTensor({batch, extent, extent, in}, 1), dx = Uninitialized(x.shape());
  const Tensor w = RandomTensor({out, in, 3, 3}, 2), dw = Uninitialized(w.shape());
  const Tensor y = RandomTensor({batch, extent, extent, out}, 3);
  const Tensor bias = RandomTensor({out}, 4), db = Uninitialized({out});
  auto& conv = backend_->conv();
  const Tensor scratch = Scratch(
      std::max({conv.ForwardScratch(g, DType::kF32), conv.BackwardDataScratch(g, DType::kF32),
                conv.BackwardWeightScratch(g, DType::kF32, true, false)}));
  std::printf("convolution 3x3 of [%ld, %ld, %ld, %ld] to %ld\n", static_cast<long>(batch),
              static_cast<long>(extent), static_cast<long>(extent), static_cast<long>(in),
              static_cast<long>(out));
  const auto flops = 18.0 * static_cast<double>(batch * extent * extent * in * out);
  Flops("backward data", flops, [&] { conv.BackwardData(g, y, w, dx, scratch.raw()); });
  Flops("backward weight and bias", flops,
        [&] { conv.BackwardWeight(g, y, x, dw, db, false, scratch.raw()); });
  Flops("forward, bias, relu", flops, [&] {
    conv.Forward(g, x, w, bias, y, {Activation::kRelu, 0}, scratch.raw());
  });
}

void Bench::Pooling(std::int64_t batch, std::int64_t extent, std::int64_t channels,
                    std::int64_t kernel) {
  PoolGeometry g;
  g.channels = channels;
  g.window.batch = batch;
  g.window.input = {1, extent, extent};
  g.window.output = {1, extent / 2, extent / 2};
  g.window.kernel = {1, kernel, kernel};
  g.window.stride = {1, 2, 2};
  const std::int64_t padding = (kernel - 1) / 2;
  g.window.padding_begin = {0, padding, padding};
  const Tensor x = RandomTensor({batch, extent, extent, channels}, 1);
  const Tensor y = RandomTensor({batch, extent / 2, extent / 2, channels}, 2);
  auto& pool = backend_->pool();
  const Tensor index = Scratch(pool.MaxIndexBytes(g, DType::kF32));
  const Tensor scratch = Scratch(pool.Scratch(g, DType::kF32));
  std::printf("pooling %ldx%ld / 2 of [%ld, %ld, %ld, %ld]\n", static_cast<long>(kernel),
              static_cast<long>(kernel), static_cast<long>(batch), static_cast<long>(extent),
              static_cast<long>(extent), static_cast<long>(channels));
  const auto bytes = static_cast<double>(x.bytes() + y.bytes() + index.bytes());
  Bytes("maximum forward", bytes, [&] { pool.MaxForward(g, x, y, index, scratch.raw()); });
  Bytes("maximum backward", bytes, [&] { pool.MaxBackward(g, y, index, x, scratch.raw()); });
  Bytes("average forward", bytes, [&] { pool.AverageForward(g, x, y, scratch.raw()); });
}

void Bench::Norms(std::int64_t batch, std::int64_t size, std::int64_t channels) {
  const GroupNormGeometry g{batch, size, channels, std::min<std::int64_t>(channels, 8)};
  const Tensor x = RandomTensor({batch, size, channels}, 1), y = RandomTensor(x.shape(), 2);
  const Tensor dy = RandomTensor(x.shape(), 3), dx = Uninitialized(x.shape());
  const Tensor w = RandomTensor({channels}, 4), dw = Uninitialized({channels});
  const Tensor mean = Uninitialized({batch * size}), rstd = Uninitialized({batch * size});
  const Tensor means = Uninitialized({channels}), rstds = Uninitialized({channels});
  const Tensor group_means = Uninitialized({batch, g.groups}),
               group_rstds = Uninitialized({batch, g.groups});
  auto& norm = backend_->norm();
  const Tensor scratch = Scratch(std::max({norm.BatchScratch(x), norm.LayerBackwardScratch(x),
                                           norm.GroupBackwardScratch(g, DType::kF32)}));
  std::printf("norms of [%ld, %ld, %ld]\n", static_cast<long>(batch), static_cast<long>(size),
              static_cast<long>(channels));
  const auto pass = static_cast<double>(x.bytes());
  Bytes("batch forward, relu (3 passes)", 3 * pass,
        [&] { norm.BatchForward(x, w, w, 1e-5, true, y, means, rstds, scratch.raw()); });
  Bytes("batch backward, relu (5 passes)", 5 * pass, [&] {
    norm.BatchBackward(dy, x, means, rstds, w, w, true, dx, dw, dw, false, scratch.raw());
  });
  Bytes("layer forward (2 passes)", 2 * pass,
        [&] { norm.LayerForward(x, w, w, 1e-5, y, mean, rstd); });
  Bytes("layer backward (3 passes)", 3 * pass,
        [&] { norm.LayerBackward(dy, x, mean, rstd, w, dx, dw, dw, false, scratch.raw()); });
  Bytes("group forward (3 passes)", 3 * pass,
        [&] { norm.GroupForward(g, x, w, w, 1e-5, y, group_means, group_rstds); });
  Bytes("group backward (5 passes)", 5 * pass, [&] {
    norm.GroupBackward(g, dy, x, group_means, group_rstds, w, dx, dw, dw, false, scratch.raw());
  });
}

void Bench::Elementwise(std::int64_t size) {
  const Tensor a = RandomTensor({size}, 1), b = RandomTensor({size}, 2), c = Uninitialized({size});
  auto& kernels = backend_->elementwise();
  std::printf("elementwise on %ld\n", static_cast<long>(size));
  const auto pass = static_cast<double>(a.bytes());
  Bytes("add", 3 * pass, [&] { kernels.Add(a, b, c); });
  Bytes("dropout", 2 * pass, [&] { kernels.Dropout(a, 0.1, 7, c); });
}

void Bench::Activations(std::int64_t size, DType dtype) {
  const Tensor a = RandomTensor({size}, 1, dtype), b = RandomTensor({size}, 2, dtype);
  const Tensor c = Uninitialized({size}, dtype);
  auto& kernels = backend_->elementwise();
  const auto pass = static_cast<double>(a.bytes());
  for (const Activation kind : {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
                                Activation::kSilu, Activation::kSoftplus, Activation::kMish}) {
    const std::string name = std::string(NameOf(kind)) + ", " + std::string(NameOf(dtype));
    Bytes(name + " forward", 2 * pass, [&] { kernels.ActivationForward(kind, 0, a, c); });
    Bytes(name + " backward", 3 * pass, [&] { kernels.ActivationBackward(kind, 0, a, b, c); });
  }
}

void Bench::Losses(std::int64_t rows, std::int64_t classes) {
  const Tensor x = RandomTensor({rows, classes}, 1), dx = Uninitialized(x.shape());
  const Tensor labels = testing::Full({rows}, 1, DType::kI64), sums = Uninitialized({rows});
  const Tensor loss = testing::Full({1}, 1);
  auto& kernels = backend_->loss();
  std::printf("losses of [%ld, %ld]\n", static_cast<long>(rows), static_cast<long>(classes));
  const auto pass = static_cast<double>(x.bytes());
  Bytes("softmax forward", 2 * pass, [&] { kernels.SoftmaxForward(x, false, dx); });
  Bytes("cross entropy forward", pass,
        [&] { kernels.CrossEntropyForward(x, labels, {}, sums, loss); });
  Bytes("cross entropy backward", 2 * pass,
        [&] { kernels.CrossEntropyBackward(loss, x, labels, {}, sums, dx); });
}

void Bench::Optimizers(std::int64_t size) {
  const Tensor g = RandomTensor({size}, 1), m = RandomTensor({size}, 2),
               p = RandomTensor({size}, 3);
  const Tensor v = testing::Full({size}, 0.5);
  auto& kernels = backend_->optimizer();
  std::printf("optimizers on %ld\n", static_cast<long>(size));
  const auto pass = static_cast<double>(g.bytes());
  SgdArguments sgd;
  sgd.learning_rate = 1e-6;
  sgd.momentum = 0.9;
  AdamArguments adam;
  adam.learning_rate = 1e-6;
  Bytes("sgd with momentum", 5 * pass, [&] { kernels.Sgd(sgd, g, m, p); });
  Bytes("adam", 7 * pass, [&] { kernels.Adam(adam, g, m, v, p); });
  const Tensor half_m = testing::Full({size}, 0, DType::kBF16),
               half_v = testing::Full({size}, 0, DType::kBF16);
  Bytes("adam, bf16 state", 5 * pass, [&] { kernels.Adam(adam, g, half_m, half_v, p); });
  const Tensor codes_m = testing::Full({BlockStateBytes(size)}, 0, DType::kU8);
  const Tensor codes_v = testing::Full({BlockStateBytes(size)}, 0, DType::kU8);
  Bytes("adam, 8-bit state", 3 * pass + 4 * static_cast<double>(codes_m.bytes()),
        [&] { kernels.Adam(adam, g, codes_m, codes_v, p); });
  Bytes("sum of squares", pass, [&] { kernels.SumOfSquares(g); });
}

void RunAll(BackendKind kind) {
  Bench bench(kind);
  bench.MeasureLimits();
  bench.Products(128, 784, 1024);
  bench.Products(128, 3136, 128);
  bench.Products(1024, 768, 3072);
  bench.Products(1024, 3072, 768);
  bench.Products(100, 10, 10);
  bench.Products(1, 64, 10);
  if (kind == BackendKind::kOneDnn) {
    bench.Bf16Products(4096, 384, 1152, false);
    bench.Bf16Products(4096, 384, 1536, false);
    bench.Bf16Products(4096, 1536, 384, false);
    bench.Bf16Products(1024, 768, 2304, false);
    bench.Bf16Products(1024, 768, 3072, false);
    bench.Bf16Products(1024, 3072, 768, false);
    bench.Bf16Products(256, 768, 50257, true);
    bench.Bf16Products(256, 768, 50304, true);  // whole blocks of 64
  }
  bench.Convolution(128, 28, 1, 32);
  bench.Convolution(128, 14, 32, 64);
  bench.Convolution(64, 32, 64, 64);
  bench.Pooling(128, 28, 32, 2);
  bench.Pooling(8, 112, 64, 3);
  bench.Norms(128, 28 * 28, 32);
  bench.Norms(128, 14 * 14, 64);
  bench.Norms(64, 32 * 32, 64);
  bench.Norms(4, 256, 768);
  bench.Elementwise(1 << 22);
  bench.Activations(1 << 22, DType::kF32);
  bench.Activations(1 << 22, DType::kBF16);
  bench.Losses(128, 10);
  bench.Losses(1024, 4096);
  bench.Losses(256, 50257);
  bench.Optimizers(1 << 22);
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  const bool reference = count > 1 && std::string(arguments[1]) == "eigen";
  frugal::RunAll(reference ? frugal::BackendKind::kEigen : frugal::BackendKind::kOneDnn);
}

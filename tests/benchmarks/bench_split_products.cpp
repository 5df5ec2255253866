// Prints what f32 products reach as sums of three bf16 products on matrix tiles (precision =
// "f32x3") beside oneDNN's exact ones, in turn, in GFLOP/s of the product itself: forward, the
// gradient of the input and that of the weight; and the root mean square error of each beside f64,
// as a multiple of the result's own. Every call has other tensors than the one before, some of 12.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "sdk/backend/backend.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::ScratchOf;
using testing::Uninitialized;

struct Sizes {
  std::int64_t rows, inputs, outputs;
};

struct Layer {
  Tensor x, y, weight, dx, dweight;
};

Layer LayerOf(const Sizes& s) {
  return {RandomTensor({s.rows, s.inputs}, 1), RandomTensor({s.rows, s.outputs}, 2),
          RandomTensor({s.outputs, s.inputs}, 3), Uninitialized({s.rows, s.inputs}),
          Uninitialized({s.outputs, s.inputs})};
}

enum class Pass : std::uint8_t { kForward, kBackwardData, kBackwardWeight };

std::int64_t ScratchBytes(Backend& backend, Pass pass, const Layer& layer) {
  const ProductKernels& product = backend.product();
  if (pass == Pass::kForward) return product.LinearForwardScratch(layer.x, layer.weight);
  if (pass == Pass::kBackwardData) return product.LinearBackwardDataScratch(layer.y, layer.weight);
  return product.LinearBackwardWeightScratch(layer.y, layer.x, false);
}

void Run(Backend& backend, Pass pass, const Layer& layer, void* scratch) {
  ProductKernels& product = backend.product();
  if (pass == Pass::kForward) {
    product.LinearForward(layer.x, layer.weight, {}, {}, layer.y, {}, scratch);
  } else if (pass == Pass::kBackwardData) {
    product.LinearBackwardData(layer.y, layer.weight, layer.dx, false, scratch);
  } else {
    product.LinearBackwardWeight(layer.y, layer.x, layer.dweight, {}, false, scratch);
  }
}

// Returns how far a forward product is from one in f64.
double ErrorOf(Backend& backend, const Sizes& s) {
  const Layer layer = LayerOf(s);
  const Tensor scratch = ScratchOf(ScratchBytes(backend, Pass::kForward, layer));
  Run(backend, Pass::kForward, layer, scratch.raw());
  const std::vector<double> x = testing::Values(layer.x), w = testing::Values(layer.weight);
  const std::vector<double> y = testing::Values(layer.y);
  double squares = 0, wanted_squares = 0;
  for (std::int64_t r = 0; r < s.rows; r += s.rows / 4) {
    for (std::int64_t o = 0; o < s.outputs; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < s.inputs; ++i) {
        sum += x[static_cast<std::size_t>(r * s.inputs + i)] *
               w[static_cast<std::size_t>(o * s.inputs + i)];
      }
      const double off = y[static_cast<std::size_t>(r * s.outputs + o)] - sum;
      squares += off * off;
      wanted_squares += sum * sum;
    }
  }
  return std::sqrt(squares / wanted_squares);
}

void Bench(const Sizes& s, int rounds) {
  const auto exact = MakeOneDnnBackend(), split = MakeOneDnnBackend(F32Products::kSplit);
  std::vector<Layer> layers;
  layers.reserve(12);
  for (int i = 0; i < 12; ++i) layers.push_back(LayerOf(s));
  std::size_t next = 0;
  std::printf("%5ld x %4ld x %4ld", static_cast<long>(s.rows), static_cast<long>(s.inputs),
              static_cast<long>(s.outputs));
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
    const Tensor scratch = ScratchOf(
        std::max(ScratchBytes(*exact, pass, layers[0]), ScratchBytes(*split, pass, layers[0])));
    const auto seconds =
        BestInTurn<2>({[&] { Run(*exact, pass, layers[next++ % layers.size()], scratch.raw()); },
                       [&] { Run(*split, pass, layers[next++ % layers.size()], scratch.raw()); }},
                      rounds);
    const double flops = 2e-9 * static_cast<double>(s.rows * s.inputs * s.outputs);
    std::printf("   %6.0f %6.0f %5.2f", flops / seconds[0], flops / seconds[1],
                seconds[0] / seconds[1]);
  }
  std::printf("   %.1e %.1e\n", ErrorOf(*exact, s), ErrorOf(*split, s));
  std::fflush(stdout);
}

}  // namespace
}  // namespace frugal

// bench_split_products [rounds]: the best of so many is taken, 5 unless told.
int main(int count, char** arguments) {
  if (!frugal::HasSplitProducts()) {
    std::puts("this processor has no matrix tiles");
    return 0;
  }
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  std::printf("f32 products, %d threads, GFLOP/s exact and split\n", frugal::ThreadCount());
  std::printf("%18s   %-20s   %-20s   %-20s   %s\n", "", "forward", "input's gradient",
              "weight's gradient", "error of each");
  for (const frugal::Sizes& sizes : std::initializer_list<frugal::Sizes>{{4096, 384, 384},
                                                                         {4096, 384, 1152},
                                                                         {4096, 384, 1536},
                                                                         {4096, 1536, 384},
                                                                         {1024, 768, 768},
                                                                         {1024, 768, 2304},
                                                                         {1024, 768, 3072},
                                                                         {1024, 3072, 768},
                                                                         {1024, 768, 50257},
                                                                         {256, 768, 3072},
                                                                         {256, 1024, 1024},
                                                                         {64, 768, 3072}}) {
    frugal::Bench(sizes, rounds);
  }
}

// Prints what the fast backend's attention reaches in GFLOP/s, forward and backward, beside the best
// product measured in the same run. Counted are the products that the result needs: 4 Tq Tk d per
// query head forward and 10 backward (scores are computed again), half of that where causal.
// Nothing here passes or fails.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "sdk/backend/backend.h"
#include "sdk/backend/onednn/attention.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using test::RandomTensor;
using test::ScratchOf;
using test::Uninitialized;

// Seconds of one call: the best of `rounds` rounds of at least 30 ms.
template <class Body>
double Seconds(const Body& body, int rounds) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    double passed = 0;
    int calls = 0;
    for (; passed < 0.03; ++calls) {
      body();
      passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    best = std::min(best, passed / calls);
  }
  return best;
}

double ProductLimit(int rounds) {
  const std::unique_ptr<Backend> backend = MakeOneDnnBackend();
  auto& product = backend->product();
  double best = 0;
  for (const std::int64_t width : {512, 768, 1024}) {
    const Tensor x = RandomTensor({8192, width}, 1), w = RandomTensor({width, width}, 2);
    const Tensor y = Uninitialized({8192, width});
    const Tensor scratch = ScratchOf(product.LinearForwardScratch(x, w));
    const double seconds = Seconds(
        [&] { product.LinearForward(x, w, {}, {}, y, {}, scratch.raw()); }, rounds);
    best = std::max(best, 2e-9 * 8192.0 * static_cast<double>(width * width) / seconds);
  }
  return best;
}

struct Work {
  std::int64_t batch, length, heads, key_heads, head_size;
  bool causal = false;
};

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds), limit_(ProductLimit(rounds)) {
    std::printf("%d threads: product %.0f GFLOP/s\n", ThreadCount(), limit_);
    std::printf("%-46s %16s %16s %12s\n", "", "forward", "backward", "scratch MB");
  }

  // q, k and v lie side by side, as one product writes them.
  void Run(const Work& w) const {
    const AttentionGeometry g{w.batch,     w.length,    w.length,
                              w.heads,     w.key_heads, w.head_size,
                              1 / std::sqrt(static_cast<double>(w.head_size)), w.causal};
    const std::int64_t queries = w.heads * w.head_size, keys = w.key_heads * w.head_size;
    const Tensor qkv = RandomTensor({w.batch, w.length, queries + 2 * keys}, 1);
    const Tensor dqkv = Uninitialized(qkv.shape());
    const HeadsView q{qkv, 0}, k{qkv, queries}, v{qkv, queries + keys};
    const HeadsView dq{dqkv, 0}, dk{dqkv, queries}, dv{dqkv, queries + keys};
    const Tensor y = Uninitialized({w.batch, w.length, queries});
    const Tensor dy = RandomTensor(y.shape(), 2);
    const Tensor sums = Uninitialized({w.batch, w.heads, w.length});
    OneDnnAttentionKernels kernels;
    const std::int64_t bytes = kernels.BackwardScratch(g, DType::kF32);
    const Tensor scratch = ScratchOf(std::max(bytes, kernels.ForwardScratch(g, DType::kF32)));
    const double forward = Seconds(
        [&] { kernels.Forward(g, q, k, v, {}, y, sums, scratch.raw()); }, rounds_);
    const double backward = Seconds(
        [&] { kernels.Backward(g, dy, q, k, v, {}, y, sums, dq, dk, dv, scratch.raw()); },
        rounds_);
    Print(w, forward, backward, static_cast<double>(bytes) / 1e6);
  }

 private:
  void Print(const Work& w, double forward, double backward, double megabytes) const {
    const double products = 1e-9 * (w.causal ? 0.5 : 1.0) * static_cast<double>(w.batch * w.heads) *
                            static_cast<double>(w.length * w.length * w.head_size);
    std::printf("B %-3ld T %-5ld H %-3ld G %-3ld d %-4ld %-8s", static_cast<long>(w.batch),
                static_cast<long>(w.length), static_cast<long>(w.heads),
                static_cast<long>(w.key_heads), static_cast<long>(w.head_size),
                w.causal ? "causal" : "");
    for (const double rate : {4 * products / forward, 10 * products / backward}) {
      std::printf("   %7.1f (%3.0f%%)", rate, 100 * rate / limit_);
    }
    std::printf(" %12.2f\n", megabytes);
    std::fflush(stdout);
  }

  int rounds_;
  double limit_;
};

void RunAll(int rounds) {
  const Bench bench(rounds);
  for (const bool causal : {false, true}) {
    for (const std::int64_t head_size : {32, 64, 80, 128}) {
      for (const std::int64_t length : {64, 256, 1024, 4096}) {
        const std::int64_t batch = std::max<std::int64_t>(1, 1024 / length);
        const std::int64_t heads = std::min<std::int64_t>(12, 768 / head_size);
        bench.Run({batch, length, heads, heads, head_size, causal});
      }
    }
  }
  bench.Run({1, 1024, 32, 8, 64, true});   // grouped queries
  bench.Run({1, 1024, 1, 1, 64, false});   // one head
  bench.Run({4, 256, 16, 16, 64, false});  // rows of 3072
  bench.Run({4, 256, 6, 6, 64, false});
}

}  // namespace
}  // namespace frugal

// bench_attention [rounds]: the best of so many is taken, 6 unless told.
int main(int count, char** arguments) {
  frugal::RunAll(count > 1 ? std::max(1, std::atoi(arguments[1])) : 6);
}

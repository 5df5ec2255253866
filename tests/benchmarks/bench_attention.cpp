// Prints what the fast backend's attention reaches in GFLOP/s, forward and backward, beside a large
// product measured in turn with it, so that each share holds on a busy machine too. Counted are the
// products that the result needs: 4 Tq Tk d per query head forward and 10 backward (scores are
// computed again), half of that where causal. Nothing here passes or fails.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "sdk/backend/backend.h"
#include "sdk/backend/onednn/attention.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using test::RandomTensor;
using test::ScratchOf;
using test::Uninitialized;

// Seconds of one call, the average over at least 30 ms.
double Seconds(const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double passed = 0;
  int calls = 0;
  for (; passed < 0.03; ++calls) {
    body();
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return passed / calls;
}

// The best of `rounds` rounds for each, one after the other in every round.
std::array<double, 3> BestInTurn(const std::array<std::function<void()>, 3>& bodies, int rounds) {
  std::array<double, 3> best{1e9, 1e9, 1e9};
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < bodies.size(); ++i) best[i] = std::min(best[i], Seconds(bodies[i]));
  }
  return best;
}

// Of a shape at which the kernels make the most of the machine.
class LargeProduct {
 public:
  static constexpr double kFlops = 2.0 * 4096 * 768 * 768;

  void Run() { backend_->product().LinearForward(x_, w_, {}, {}, y_, {}, scratch_.raw()); }

 private:
  std::unique_ptr<Backend> backend_ = MakeOneDnnBackend();
  Tensor x_ = RandomTensor({4096, 768}, 1), w_ = RandomTensor({768, 768}, 2);
  Tensor y_ = Uninitialized({4096, 768});
  Tensor scratch_ = ScratchOf(backend_->product().LinearForwardScratch(x_, w_));
};

struct Work {
  std::int64_t batch, length, heads, key_heads, head_size;
  bool causal = false;
};

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds) {
    std::printf("%d threads; GFLOP/s and share of the product\n", ThreadCount());
    std::printf("%-42s %8s %18s %18s %11s\n", "", "product", "forward", "backward", "scratch MB");
  }

  // q, k and v lie side by side, as one product writes them.
  void Run(const Work& w) {
    const AttentionGeometry g{w.batch,
                              w.length,
                              w.length,
                              w.heads,
                              w.key_heads,
                              w.head_size,
                              1 / std::sqrt(static_cast<double>(w.head_size)),
                              w.causal};
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
    const auto forward = [&] { kernels.Forward(g, q, k, v, {}, y, sums, scratch.raw()); };
    const auto backward = [&] {
      kernels.Backward(g, dy, q, k, v, {}, y, sums, dq, dk, dv, scratch.raw());
    };
    Print(w, static_cast<double>(bytes) / 1e6,
          BestInTurn({[&] { product_.Run(); }, forward, backward}, rounds_));
  }

 private:
  static void Print(const Work& w, double megabytes, const std::array<double, 3>& seconds) {
    const double products = 1e-9 * (w.causal ? 0.5 : 1.0) * static_cast<double>(w.batch * w.heads) *
                            static_cast<double>(w.length * w.length * w.head_size);
    const double limit = 1e-9 * LargeProduct::kFlops / seconds[0];
    std::printf("B %-3ld T %-5ld H %-3ld G %-3ld d %-4ld %-8s %9.1f", static_cast<long>(w.batch),
                static_cast<long>(w.length), static_cast<long>(w.heads),
                static_cast<long>(w.key_heads), static_cast<long>(w.head_size),
                w.causal ? "causal" : "", limit);
    for (const double rate : {4 * products / seconds[1], 10 * products / seconds[2]}) {
      std::printf("     %7.1f (%3.0f%%)", rate, 100 * rate / limit);
    }
    std::printf(" %11.2f\n", megabytes);
    std::fflush(stdout);
  }

  int rounds_;
  LargeProduct product_;
};

void RunAll(int rounds) {
  Bench bench(rounds);
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

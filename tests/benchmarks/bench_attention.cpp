// Prints what the fast backend's attention reaches in GFLOP/s, forward and backward, beside a large
// product measured in turn with it, so that each share holds on a busy machine too. Counted are the
// products that the result needs: 4 Tq Tk d per query head forward and 10 backward (scores are
// computed again), half of that where causal. Nothing here passes or fails.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "sdk/backend/backend.h"
#include "sdk/backend/onednn/attention/attention.h"
#include "sdk/core/bfloat16.h"
#include "tests/benchmarks/seconds.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::RandomTensor;
using testing::ScratchOf;
using testing::Uninitialized;

// Runs a product of a shape at which the kernels make the most of the machine.
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

Tensor Rounded(const Tensor& tensor, DType dtype) {
  if (dtype == DType::kF32) return tensor;
  Tensor rounded = Uninitialized(tensor.shape(), dtype);
  std::transform(tensor.data<float>(), tensor.data<float>() + tensor.size(),
                 rounded.data<BFloat16>(), [](float x) { return BFloat16(x); });
  return rounded;
}

// Attention in one element type; q, k and v lie side by side, as one product writes them.
class Case {
 public:
  Case(const AttentionGeometry& g, DType dtype) : g_(g), dtype_(dtype) {
    const std::int64_t queries = g.heads * g.head_size, keys = g.key_heads * g.head_size;
    const Tensor qkv =
        Rounded(RandomTensor({g.batch, g.query_length, queries + 2 * keys}, 1), dtype);
    const Tensor dqkv = Uninitialized(qkv.shape(), dtype);
    q_ = {qkv, 0}, k_ = {qkv, queries}, v_ = {qkv, queries + keys};
    dq_ = {dqkv, 0}, dk_ = {dqkv, queries}, dv_ = {dqkv, queries + keys};
    y_ = Uninitialized({g.batch, g.query_length, queries}, dtype);
    dy_ = Rounded(RandomTensor(y_.shape(), 2), dtype);
    sums_ = Uninitialized({g.batch, g.heads, g.query_length});
    scratch_ = ScratchOf(std::max(BackwardBytes(), kernels_.ForwardScratch(g, dtype)));
  }
  std::int64_t BackwardBytes() const { return kernels_.BackwardScratch(g_, dtype_); }
  void Forward() { kernels_.Forward(g_, q_, k_, v_, {}, y_, sums_, scratch_.raw()); }
  void Backward() {
    kernels_.Backward(g_, dy_, q_, k_, v_, {}, y_, sums_, dq_, dk_, dv_, scratch_.raw());
  }

 private:
  const AttentionGeometry g_;
  const DType dtype_;
  OneDnnAttentionKernels kernels_;
  HeadsView q_, k_, v_, dq_, dk_, dv_;
  Tensor y_, dy_, sums_, scratch_;
};

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds) {
    std::printf("%d threads; GFLOP/s and share of the f32 product, in f32 and bf16\n",
                ThreadCount());
    std::printf("%-42s %8s %16s %16s %16s %16s %15s\n", "", "product", "forward f32",
                "backward f32", "forward bf16", "backward bf16", "scratch MB");
  }

  void Run(const Work& w) {
    const AttentionGeometry g{w.batch,
                              w.length,
                              w.length,
                              w.heads,
                              w.key_heads,
                              w.head_size,
                              1 / std::sqrt(static_cast<double>(w.head_size)),
                              w.causal};
    Case floats(g, DType::kF32), halves(g, DType::kBF16);
    const std::int64_t bytes = floats.BackwardBytes(), less = halves.BackwardBytes();
    Print(w, {static_cast<double>(bytes) / 1e6, static_cast<double>(less) / 1e6},
          BestInTurn<5>(
              {[&] { product_.Run(); }, [&] { floats.Forward(); }, [&] { floats.Backward(); },
               [&] { halves.Forward(); }, [&] { halves.Backward(); }},
              rounds_));
  }

 private:
  static void Print(const Work& w, const std::array<double, 2>& megabytes,
                    const std::array<double, 5>& seconds) {
    const double products = 1e-9 * (w.causal ? 0.5 : 1.0) * static_cast<double>(w.batch * w.heads) *
                            static_cast<double>(w.length * w.length * w.head_size);
    const double limit = 1e-9 * LargeProduct::kFlops / seconds[0];
    std::printf("B %-3ld T %-5ld H %-3ld G %-3ld d %-4ld %-8s %9.1f", static_cast<long>(w.batch),
                static_cast<long>(w.length), static_cast<long>(w.heads),
                static_cast<long>(w.key_heads), static_cast<long>(w.head_size),
                w.causal ? "causal" : "", limit);
    for (const std::size_t i : {1U, 2U, 3U, 4U}) {
      const double rate = (i % 2 == 1 ? 4 : 10) * products / seconds[i];
      std::printf("  %7.1f (%4.0f%%)", rate, 100 * rate / limit);
    }
    std::printf(" %7.2f %7.2f\n", megabytes[0], megabytes[1]);
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
  bench.Run({8, 256, 12, 12, 64, true});
  bench.Run({8, 1024, 12, 12, 64, true});
  bench.Run({8, 1024, 12, 12, 64, false});
}

}  // namespace
}  // namespace frugal

// bench_attention [rounds]: the best of so many is taken, 6 unless told.
int main(int count, char** arguments) {
  frugal::RunAll(count > 1 ? std::max(1, std::atoi(arguments[1])) : 6);
}

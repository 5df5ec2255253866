#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/gemm/gemm.h"
#include "sdk/core/threads.h"
#include "tests/benchmarks/open_blas.h"
#include "tests/benchmarks/seconds.h"
#include "tests/benchmarks/step_products.h"
#include "tests/support/tensors.h"

namespace frugal {

// FLOP/s of libraries at the products of one shape, each with other tensors than the one before so
// that they come from beyond the second cache as in a training step; 0 where a library has none.
struct LibraryRates {
  double sgemm = 0, matmul = 0;  // oneDNN's, the second with the weight where it lies
  double openblas = 0;
  double ours = 0;  // the fast backend's, but of batches

  double Best() const { return std::max({sgemm, matmul, openblas}); }
};

class ProductTimer {
 public:
  explicit ProductTimer(const StepProduct& product) : p_(product) {
    const std::int64_t elements = p_.m * p_.k + p_.k * p_.n + p_.m * p_.n;
    constexpr std::int64_t kElements = std::int64_t{24} << 20;  // far more than caches hold
    const auto sets = std::clamp<std::int64_t>(kElements / (p_.batch * elements), 1, 6);
    for (std::int64_t i = 0; i < sets; ++i) {
      sets_.push_back({testing::RandomTensor({p_.batch, p_.m * p_.k}, 1),
                       testing::RandomTensor({p_.batch, p_.k * p_.n}, 2),
                       testing::Uninitialized({p_.batch, p_.m * p_.n})});
    }
  }

  LibraryRates Measure(const OpenBlas& openblas, bool with_ours) {
    std::vector<Way> ways;
    ways.push_back({&LibraryRates::sgemm, [this] {
                      RunBatch([](const onednn::Gemm& gemm, float* c) {
                        onednn::MultiplyByOneDnn(gemm, false, c, gemm.n);
                      });
                    }});
    if (openblas.exists()) {
      ways.push_back(
          {&LibraryRates::openblas, [this, &openblas] {
             RunBatch([&](const onednn::Gemm& gemm, float* c) { openblas.Multiply(gemm, c); });
           }});
    }
    if (p_.batch == 1) AddMatmul(ways);
    if (p_.batch == 1 && with_ours) AddOurs(ways);
    return MediansOf(ways);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Set {
    Tensor a, b, c;
  };
  struct Way {
    double LibraryRates::*library;
    std::function<void()> run;
    std::vector<double> times = {};
  };

  const Set& Next() { return sets_[static_cast<std::size_t>(next_++) % sets_.size()]; }

  template <class Multiply>
  void RunBatch(const Multiply& multiply) {
    const Set& set = Next();
    const auto one = [&](std::int64_t i) {
      multiply({p_.transpose_a, p_.transpose_b, p_.m, p_.n, p_.k,
                set.a.data<float>() + i * p_.m * p_.k, p_.transpose_a == 'T' ? p_.m : p_.k,
                set.b.data<float>() + i * p_.k * p_.n, p_.transpose_b == 'T' ? p_.k : p_.n},
               set.c.data<float>() + i * p_.m * p_.n);
    };
    if (p_.batch == 1) return one(0);
    SharedTasks tasks(p_.batch, 1);  // each product of a batch on one thread
    RunTeam(0, [&] { tasks.Work(one); });
  }

  void AddMatmul(std::vector<Way>& ways) {
    primitive_ = onednn::MakePrimitive(onednn::GemmDescription{.transpose_a = p_.transpose_a,
                                                               .transpose_b = p_.transpose_b,
                                                               .m = p_.m,
                                                               .n = p_.n,
                                                               .k = p_.k});
    if (!primitive_) return;
    scratch_ = testing::ScratchOf(primitive_->ScratchBytes());
    ways.push_back({&LibraryRates::matmul, [this] {
                      const Set& set = Next();
                      primitive_->Run({{onednn::Slot::kSource, set.a.raw()},
                                       {onednn::Slot::kWeight, set.b.raw()},
                                       {onednn::Slot::kDestination, set.c.raw()}},
                                      scratch_.raw());
                    }});
  }

  // The next tensors as matrices of their own sizes.
  Set NextMatrices() {
    const Set& set = Next();
    const auto matrix = [](const Tensor& tensor, std::int64_t rows, std::int64_t columns,
                           char order) {
      return tensor.Reshape(order == 'T' ? Shape{columns, rows} : Shape{rows, columns});
    };
    return {matrix(set.a, p_.m, p_.k, p_.transpose_a), matrix(set.b, p_.k, p_.n, p_.transpose_b),
            matrix(set.c, p_.m, p_.n, 'N')};
  }

  void AddOurs(std::vector<Way>& ways) {
    ProductKernels& kernels = backend_->product();
    const Set sizes = NextMatrices();
    if (p_.transpose_a == 'T') {
      ours_scratch_ =
          testing::ScratchOf(kernels.LinearBackwardWeightScratch(sizes.a, sizes.b, false));
      ways.push_back({&LibraryRates::ours, [this, &kernels] {
                        const Set set = NextMatrices();
                        kernels.LinearBackwardWeight(set.a, set.b, LinearWeight(set.c), {}, false,
                                                     ours_scratch_.raw());
                      }});
      return;
    }
    const auto weight = [this](const Set& set) {
      return LinearWeight(set.b,
                          p_.transpose_b == 'T' ? WeightLayout::kOutIn : WeightLayout::kInOut);
    };
    ours_scratch_ = testing::ScratchOf(kernels.LinearForwardScratch(sizes.a, weight(sizes)));
    ways.push_back({&LibraryRates::ours, [this, &kernels, weight] {
                      const Set set = NextMatrices();
                      kernels.LinearForward(set.a, weight(set), {}, {}, set.c, {},
                                            ours_scratch_.raw());
                    }});
  }

  // The medians of runs in turn.
  LibraryRates MediansOf(std::vector<Way>& ways) const {
    for (const Way& way : ways) way.run();  // touches the memory
    const auto start = Clock::now();
    const auto passed = [](Clock::time_point since) {
      return std::chrono::duration<double>(Clock::now() - since).count();
    };
    for (int round = 0; round < 5 || (round < 100 && passed(start) < 0.3); ++round) {
      for (Way& way : ways) {
        const auto begin = Clock::now();
        way.run();
        way.times.push_back(passed(begin));
      }
    }
    LibraryRates rates;
    for (const Way& way : ways) {
      rates.*way.library = p_.FlopsOfOne() / Median(way.times);
    }
    return rates;
  }

  StepProduct p_;
  std::vector<Set> sets_;
  std::size_t next_ = 0;
  std::unique_ptr<Backend> backend_ = MakeBackend(BackendKind::kOneDnn);
  std::unique_ptr<onednn::Operation> primitive_;
  Tensor scratch_, ours_scratch_;
};

// Returns the seconds that the products of a step take where each runs at the best library's rate
// at its shape.
inline double LibrarySeconds(const StepProducts& products) {
  const OpenBlas openblas;
  double seconds = 0;
  for (const StepProduct& product : products.all()) {
    seconds += product.flops / ProductTimer(product).Measure(openblas, false).Best();
  }
  return seconds;
}

}  // namespace frugal

#include "sdk/backend/onednn/matmul/padded_gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/matmul/no_copy_gemm.h"
#include "sdk/backend/onednn/operation/separate_activation.h"

namespace frugal::onednn {
namespace {

// Rows of the right factor that are copied at a time; 512 are as fast, in twice the scratch.
constexpr std::int64_t kDepth = 256;

// y [rows, outputs] = x weight + bias + residual
class PaddedForward final : public Operation {
 public:
  explicit PaddedForward(const LinearDescription& d) : d_(d) {}

  std::int64_t ScratchBytes() const override { return PaddedScratch(d_.inputs, d_.outputs); }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto data = [&](Slot slot) { return static_cast<float*>(DataOf(arguments, slot)); };
    float* const y = data(Slot::kDestination);
    const bool adds = d_.bias || d_.residual;
    if (adds) AddUp(data(Slot::kBias), data(Slot::kResidual), y);
    MultiplyPadded({'N', 'N', d_.rows, d_.outputs, d_.inputs, data(Slot::kSource), d_.inputs,
                    data(Slot::kWeight), d_.outputs},
                   adds, y, scratch);
  }

 private:
  // y = bias + residual, of which one may be null
  void AddUp(const float* bias, const float* residual, float* y) const {
    const std::int64_t n = d_.outputs;
    eigen::ParallelFor(d_.rows, eigen::RowsPerChunk(n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        float* const to = y + row * n;
        if (residual == nullptr) {
          std::copy_n(bias, n, to);
        } else if (bias == nullptr) {
          std::copy_n(residual + row * n, n, to);
        } else {
          std::transform(bias, bias + n, residual + row * n, to, std::plus<>());
        }
      }
    });
  }

  LinearDescription d_;
};

}  // namespace

void Multiply(const Gemm& g, bool accumulate, float* c) {
  dnnl_sgemm(g.transpose_a, g.transpose_b, g.m, g.n, g.k, 1.0f, g.a, g.stride_a, g.b, g.stride_b,
             accumulate ? 1.0f : 0.0f, c, g.n);
}

void MultiplyPadded(const Gemm& g, bool accumulate, float* c, void* scratch) {
  const std::int64_t row = PaddedRow(g.n);
  auto* const copy = static_cast<float*>(scratch);
  for (std::int64_t first = 0; first < g.k; first += kDepth) {
    const std::int64_t depth = std::min(kDepth, g.k - first);
    const float* const from = g.b + first * g.stride_b;
    eigen::ParallelFor(depth, eigen::RowsPerChunk(g.n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::copy_n(from + i * g.stride_b, g.n, copy + i * row);
      }
    });
    Gemm part = g;
    part.k = depth;
    part.a = g.a + first;
    part.b = copy;
    part.stride_b = row;
    Multiply(part, accumulate || first > 0, c);
  }
}

std::int64_t PaddedScratch(std::int64_t depth, std::int64_t columns) {
  return std::min(depth, kDepth) * PaddedRow(columns) * static_cast<std::int64_t>(sizeof(float));
}

std::unique_ptr<Operation> MakePaddedForward(const LinearDescription& d) {
  return WithActivationBehind(d, [](const Description& without) -> std::unique_ptr<Operation> {
    return std::make_unique<PaddedForward>(std::get<LinearDescription>(without));
  });
}

}  // namespace frugal::onednn

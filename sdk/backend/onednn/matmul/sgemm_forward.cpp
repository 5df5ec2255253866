#include "sdk/backend/onednn/matmul/sgemm_forward.h"

#include <bit>
#include <cstdint>
#include <variant>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/gemm/gemm.h"
#include "sdk/backend/onednn/operation/separate_activation.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::onednn {
namespace {

// With AVX-512 sgemm multiplies by weights [in, out] at 1.05 to 1.2 times the rate of a matmul that
// reads them where they lie, and at twice that of 3,072 outputs (`./run bench libraries gpt2
// gpt2_t64`). It loses where there is little depth, and where few rows meet a power of two of
// outputs, so that the elements of a column come to lie in few sets of the cache.
bool SgemmForwardPays(const LinearDescription& d) {
  constexpr std::int64_t kFewRows = 32, kManyRows = 512, kDeep = 512;
  if (simd::BestInstructionSet() != simd::InstructionSet::kAvx512) return false;
  if (d.layout != WeightLayout::kInOut || d.rows < kFewRows || d.inputs < kDeep) return false;
  return d.rows >= kManyRows || !std::has_single_bit(static_cast<std::uint64_t>(d.outputs));
}

// y [rows, outputs] = x weight + bias + residual
class SgemmForward final : public Operation {
 public:
  explicit SgemmForward(const LinearDescription& d) : d_(d) {}

  std::int64_t ScratchBytes() const override { return 0; }

  void Run(std::initializer_list<Argument> arguments, void* /*scratch*/) override {
    const auto data = [&](Slot slot) { return static_cast<float*>(DataOf(arguments, slot)); };
    float* const y = data(Slot::kDestination);
    MultiplyByOneDnn({.transpose_a = 'N',
                      .transpose_b = 'N',
                      .m = d_.rows,
                      .n = d_.outputs,
                      .k = d_.inputs,
                      .a = data(Slot::kSource),
                      .stride_a = d_.inputs,
                      .b = data(Slot::kWeight),
                      .stride_b = d_.outputs},
                     false, y);
    if (d_.bias || d_.residual) {
      Add(d_.bias ? data(Slot::kBias) : nullptr, d_.residual ? data(Slot::kResidual) : nullptr, y);
    }
  }

 private:
  // Adds what is there to each row.
  void Add(const float* bias, const float* residual, float* y) const {
    const std::int64_t n = d_.outputs;
    const auto add = simd::SelectLoops().f32.elementwise.add;
    eigen::ParallelFor(d_.rows, eigen::RowsPerChunk(n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        float* const to = y + row * n;
        if (bias != nullptr) add(to, bias, to, n);
        if (residual != nullptr) add(to, residual + row * n, to, n);
      }
    });
  }

  LinearDescription d_;
};

}  // namespace

std::unique_ptr<Operation> MakeSgemmForward(const LinearDescription& d) {
  if (!SgemmForwardPays(d)) return nullptr;
  return WithActivationBehind(d, [](const Description& without) -> std::unique_ptr<Operation> {
    return std::make_unique<SgemmForward>(std::get<LinearDescription>(without));
  });
}

}  // namespace frugal::onednn

#include "sdk/backend/onednn/matmul/blocked_forward.h"

#include <variant>

#include "sdk/backend/onednn/gemm/blocked_gemm.h"
#include "sdk/backend/onednn/gemm/no_copy_gemm.h"
#include "sdk/backend/onednn/operation/separate_activation.h"

namespace frugal::onednn {
namespace {

Gemm GemmOf(const LinearDescription& d) {
  const bool out_in = d.layout == WeightLayout::kOutIn;
  return {.transpose_a = 'N',
          .transpose_b = out_in ? 'T' : 'N',
          .m = d.rows,
          .n = d.outputs,
          .k = d.inputs,
          .stride_a = d.inputs,
          .stride_b = out_in ? d.inputs : d.outputs};
}

// y [rows, outputs] = x weight^T + bias + residual, by either kind of blocks.
template <class Blocks>
class BlockedForward final : public Operation {
 public:
  explicit BlockedForward(const LinearDescription& d) : gemm_(GemmOf(d)), blocks_(gemm_) {}

  std::int64_t ScratchBytes() const override { return blocks_.ScratchBytes(); }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto data = [&](Slot slot) { return static_cast<float*>(DataOf(arguments, slot)); };
    Gemm gemm = gemm_;
    gemm.a = data(Slot::kSource);
    gemm.b = data(Slot::kWeight);
    blocks_.Run(
        gemm,
        {.c = data(Slot::kDestination), .addend = data(Slot::kResidual), .bias = data(Slot::kBias)},
        scratch);
  }

 private:
  Gemm gemm_;  // without data
  Blocks blocks_;
};

template <class Blocks>
std::unique_ptr<Operation> ForwardBy(const LinearDescription& d) {
  return WithActivationBehind(d, [](const Description& without) -> std::unique_ptr<Operation> {
    return std::make_unique<BlockedForward<Blocks>>(std::get<LinearDescription>(without));
  });
}

}  // namespace

std::unique_ptr<Operation> MakeBlockedForward(const LinearDescription& d) {
  if (BlockedGemmPays(GemmOf(d))) return ForwardBy<BlockedGemm>(d);
  return NoCopyGemmPays(GemmOf(d)) ? ForwardBy<NoCopyGemm>(d) : nullptr;
}

}  // namespace frugal::onednn

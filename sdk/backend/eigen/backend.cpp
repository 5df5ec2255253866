#include "sdk/backend/backend.h"

#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/conv/conv.h"
#include "sdk/backend/eigen/conv/pool.h"
#include "sdk/backend/eigen/conv/resample.h"
#include "sdk/backend/eigen/elementwise/elementwise.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/eigen/matmul/product.h"
#include "sdk/backend/eigen/norm/modulation.h"
#include "sdk/backend/eigen/norm/norm.h"
#include "sdk/backend/eigen/optimizer/adaptive.h"
#include "sdk/backend/eigen/optimizer/optimizer.h"
#include "sdk/backend/eigen/sequence/attention.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace {

class EigenBackend final : public Backend {
 public:
  std::string_view name() const override { return NameOf(BackendKind::kEigen); }
  bool Supports(DType dtype) const override { return dtype == DType::kF32 || dtype == DType::kF64; }

  ProductKernels& product() override { return product_; }
  ConvKernels& conv() override { return conv_; }
  PoolKernels& pool() override { return pool_; }
  NormKernels& norm() override { return norm_; }
  ElementwiseKernels& elementwise() override { return elementwise_; }
  LossKernels& loss() override { return loss_; }
  OptimizerKernels& optimizer() override { return optimizer_; }
  AdaptiveKernels& adaptive() override { return adaptive_; }
  ArrayKernels& array() override { return array_; }
  ResampleKernels& resample() override { return resample_; }
  SequenceKernels& sequence() override { return sequence_; }
  AttentionKernels& attention() override { return attention_; }
  ModulationKernels& modulation() override { return modulation_; }

 private:
  EigenProductKernels product_;
  EigenConvKernels conv_;
  EigenPoolKernels pool_;
  EigenNormKernels norm_;
  EigenElementwiseKernels elementwise_;
  EigenLossKernels loss_;
  EigenOptimizerKernels optimizer_;
  EigenAdaptiveKernels adaptive_;
  EigenArrayKernels array_;
  EigenResampleKernels resample_;
  EigenSequenceKernels sequence_;
  EigenAttentionKernels attention_;
  EigenModulationKernels modulation_;
};

}  // namespace

std::unique_ptr<Backend> MakeEigenBackend() { return std::make_unique<EigenBackend>(); }

}  // namespace frugal

#include "sdk/backend/backend.h"

#include "sdk/backend/eigen/adaptive.h"
#include "sdk/backend/eigen/array.h"
#include "sdk/backend/eigen/resample.h"
#include "sdk/backend/onednn/attention.h"
#include "sdk/backend/onednn/conv.h"
#include "sdk/backend/onednn/descriptors.h"
#include "sdk/backend/onednn/elementwise.h"
#include "sdk/backend/onednn/loss.h"
#include "sdk/backend/onednn/modulation.h"
#include "sdk/backend/onednn/norm.h"
#include "sdk/backend/onednn/operation_cache.h"
#include "sdk/backend/onednn/optimizer.h"
#include "sdk/backend/onednn/pool.h"
#include "sdk/backend/onednn/product.h"
#include "sdk/backend/onednn/sequence.h"
#include "sdk/backend/onednn/simd/cpu_features.h"
#include "sdk/backend/onednn/widened_products.h"

namespace frugal {
namespace {

class OneDnnBackend final : public Backend {
 public:
  // Operations hold their primitives themselves, so oneDNN's own cache need not be large.
  OneDnnBackend() { onednn::PrepareLibrary(256); }

  std::string_view name() const override { return NameOf(BackendKind::kOneDnn); }
  // f64 is the reference's, kernel by kernel.
  bool Supports(DType dtype) const override {
    return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
  }

  DType ProductType(DType dtype) const override { return has_bf16_ ? dtype : ExactType(dtype); }

  ProductKernels& product() override {
    if (has_bf16_) return product_;
    return widened_product_;
  }
  ConvKernels& conv() override {
    if (has_bf16_) return conv_;
    return widened_conv_;
  }
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
  const bool has_bf16_ = simd::HasAvx512Bf16();
  onednn::OperationCache cache_{onednn::Describe};
  OneDnnProductKernels product_{cache_};
  OneDnnConvKernels conv_{cache_};
  onednn::WidenedProducts widened_product_{product_};
  onednn::WidenedConvolutions widened_conv_{conv_};
  OneDnnPoolKernels pool_{cache_};
  OneDnnNormKernels norm_;
  OneDnnElementwiseKernels elementwise_{cache_};
  OneDnnLossKernels loss_{cache_};
  OneDnnOptimizerKernels optimizer_;
  EigenAdaptiveKernels adaptive_;
  EigenArrayKernels array_;
  EigenResampleKernels resample_;
  OneDnnSequenceKernels sequence_;
  OneDnnAttentionKernels attention_;
  OneDnnModulationKernels modulation_;
};

}  // namespace

std::unique_ptr<Backend> MakeOneDnnBackend() { return std::make_unique<OneDnnBackend>(); }

}  // namespace frugal

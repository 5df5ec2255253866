#include "sdk/backend/backend.h"

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/conv/resample.h"
#include "sdk/backend/eigen/optimizer/adaptive.h"
#include "sdk/backend/onednn/attention/attention.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/conv/conv.h"
#include "sdk/backend/onednn/conv/pool.h"
#include "sdk/backend/onednn/elementwise/elementwise.h"
#include "sdk/backend/onednn/elementwise/loss.h"
#include "sdk/backend/onednn/elementwise/optimizer.h"
#include "sdk/backend/onednn/elementwise/sequence.h"
#include "sdk/backend/onednn/matmul/product.h"
#include "sdk/backend/onednn/matmul/split_products.h"
#include "sdk/backend/onednn/matmul/upcast_products.h"
#include "sdk/backend/onednn/norm/modulation.h"
#include "sdk/backend/onednn/norm/norm.h"
#include "sdk/backend/onednn/operation/operation_cache.h"

namespace frugal {
namespace {

class OneDnnBackend final : public Backend {
 public:
  // Operations hold their primitives themselves, so oneDNN's own cache need not be large.
  explicit OneDnnBackend(F32Products products)
      : splits_(products == F32Products::kSplit && HasSplitProducts()) {
    onednn::PrepareLibrary(256);
  }

  std::string_view name() const override { return NameOf(BackendKind::kOneDnn); }
  // f64 is the reference's, kernel by kernel.
  bool Supports(DType dtype) const override {
    return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
  }

  DType ProductType(DType dtype) const override {
    return multiplies_bf16_ ? dtype : MasterType(dtype);
  }

  ProductKernels& product() override {
    if (splits_) return split_product_;
    if (multiplies_bf16_) return product_;
    return upcast_product_;
  }
  ConvKernels& conv() override {
    if (multiplies_bf16_) return conv_;
    return upcast_conv_;
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
  const bool multiplies_bf16_ = simd::HasFastBf16Products();
  const bool splits_;
  onednn::OperationCache cache_{onednn::ChooseOperation};
  OneDnnProductKernels product_{cache_};
  OneDnnConvKernels conv_{cache_};
  onednn::SplitProducts split_product_{product_};
  onednn::UpcastProducts upcast_product_{product_};
  onednn::UpcastConvolutions upcast_conv_{conv_};
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

bool HasSplitProducts() { return onednn::SplitProducts::IsAvailable(); }

std::unique_ptr<Backend> MakeOneDnnBackend(F32Products products) {
  return std::make_unique<OneDnnBackend>(products);
}

}  // namespace frugal

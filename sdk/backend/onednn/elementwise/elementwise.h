#pragma once

#include "sdk/backend/eigen/elementwise/elementwise.h"
#include "sdk/backend/onednn/operation/operation_cache.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// f32 and bf16: some activations by oneDNN, the rest by the vectorized loops of simd/
// (activation_bodies.h says which, and why). Other element types go to the reference.
class OneDnnElementwiseKernels final : public EigenElementwiseKernels {
 public:
  explicit OneDnnElementwiseKernels(onednn::OperationCache& cache) : cache_(cache) {}

  void ActivationForward(Activation kind, double parameter, const Tensor& x,
                         const Tensor& y) override;
  void ActivationBackward(Activation kind, double parameter, const Tensor& dy, const Tensor& kept,
                          const Tensor& dx) override;
  void Add(const Tensor& a, const Tensor& b, const Tensor& sum) override;
  void Scale(const Tensor& x, double factor, const Tensor& y) override;
  void Fill(const Tensor& x, double value) override;
  void Copy(const Tensor& from, const Tensor& to) override;
  void Dropout(const Tensor& x, double rate, std::uint64_t key, const Tensor& y) override;

 private:
  onednn::Operation* Find(const onednn::EltwiseDescription& description) const;

  onednn::OperationCache& cache_;
  const simd::Loops& loops_ = simd::SelectLoops();
};

}  // namespace frugal

#pragma once

#include "sdk/backend/eigen/elementwise.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// f32 by the vectorized loops of simd/; the rest by the reference.
class OneDnnElementwiseKernels final : public EigenElementwiseKernels {
 public:
  void ActivationForward(Activation kind, double parameter, const Tensor& x,
                         const Tensor& y) override;
  void ActivationBackward(Activation kind, double parameter, const Tensor& dy, const Tensor& kept,
                          const Tensor& dx) override;
  void Add(const Tensor& a, const Tensor& b, const Tensor& sum) override;
  void Scale(const Tensor& x, double factor, const Tensor& y) override;
  void Fill(const Tensor& x, double value) override;
  void Dropout(const Tensor& x, double rate, std::uint64_t key, const Tensor& y) override;

 private:
  const simd::ElementwiseLoops& loops_ = simd::SelectLoops().elementwise;
};

}  // namespace frugal

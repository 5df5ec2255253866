#pragma once

#include "sdk/backend/elementwise_kernels.h"

namespace frugal {

// Elementwise kernels in f32 and f64. Permute takes every element type; Copy takes every type to
// itself and every type but bf16 to f32 and f64; Fill takes every type where the value is 0.
class EigenElementwiseKernels : public ElementwiseKernels {
 public:
  void ActivationForward(Activation kind, double parameter, const Tensor& x,
                         const Tensor& y) override;
  void ActivationBackward(Activation kind, double parameter, const Tensor& dy, const Tensor& kept,
                          const Tensor& dx) override;
  void Add(const Tensor& a, const Tensor& b, const Tensor& sum) override;
  void Scale(const Tensor& x, double factor, const Tensor& y) override;
  void Fill(const Tensor& x, double value) override;
  void Copy(const Tensor& from, const Tensor& to) override;
  void Dropout(const Tensor& x, double rate, std::uint64_t key, const Tensor& y) override;
  void Permute(const Tensor& x, const Shape& axes, const Tensor& y) override;
};

}  // namespace frugal

#pragma once

#include <cstdint>

#include "sdk/backend/activation.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

class ElementwiseKernels {
 public:
  virtual ~ElementwiseKernels() = default;

  // x and y may be the same tensor where the activation derives from its output.
  virtual void ActivationForward(Activation kind, double parameter, const Tensor& x,
                                 const Tensor& y) = 0;
  // `kept` is y where DerivesFromOutput(kind), else x. dx may be dy.
  virtual void ActivationBackward(Activation kind, double parameter, const Tensor& dy,
                                  const Tensor& kept, const Tensor& dx) = 0;
  virtual void Add(const Tensor& a, const Tensor& b, const Tensor& sum) = 0;  // sum may be a or b
  virtual void Scale(const Tensor& x, double factor, const Tensor& y) = 0;    // y may be x
  virtual void Fill(const Tensor& x, double value) = 0;
  virtual void Copy(const Tensor& from, const Tensor& to) = 0;  // also between element types
  // y = keep ? x / (1 - rate) : 0, where element i of the stream `key` is kept iff its counter
  // based uniform number (sdk/core/random.h, UniformAt(key, i)) is >= rate. y may be x.
  virtual void Dropout(const Tensor& x, double rate, std::uint64_t key, const Tensor& y) = 0;
  // y = x with its axes reordered: y.shape[i] = x.shape[axes[i]]
  virtual void Permute(const Tensor& x, const Shape& axes, const Tensor& y) = 0;
};

}  // namespace frugal

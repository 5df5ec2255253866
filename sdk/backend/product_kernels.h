#pragma once

#include <cstdint>
#include <utility>

#include "sdk/backend/activation.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

enum class WeightLayout : std::uint8_t {
  kOutIn,  // [N, K], as in most public checkpoints
  kInOut,  // [K, N], as in GPT-2's ("Conv1D")
};

// A product's weight, or the place of its gradient, and how it lies in memory.
struct LinearWeight {
  Tensor tensor;
  WeightLayout layout = WeightLayout::kOutIn;
  Tensor packed{};  // what products of bf16 tensors read instead (ProductKernels::PackWeight)
  // Holds the row width of y and dy in those products where it is not outputs(): columns of zeros
  // follow (FastWidth).
  std::int64_t row_width = 0;

  LinearWeight(Tensor values,  // NOLINT(google-explicit-constructor): a plain weight is [N, K]
               WeightLayout order = WeightLayout::kOutIn)
      : tensor(std::move(values)), layout(order) {}

  // Returns what a product reads of the weight.
  const Tensor& Read() const { return packed ? packed : tensor; }
  std::int64_t width() const { return row_width > 0 ? row_width : outputs(); }
  std::int64_t inputs() const { return tensor.shape()[layout == WeightLayout::kOutIn ? 1 : 0]; }
  std::int64_t outputs() const { return tensor.shape()[layout == WeightLayout::kOutIn ? 0 : 1]; }
};

// Products of bf16 tensors have f32 biases, f32 gradients of weight and bias, and f32 sums.
class ProductKernels {
 public:
  virtual ~ProductKernels() = default;

  // Writes the bf16 copy of an f32 weight that products of bf16 tensors read, in the backend's own
  // layout. `packed` is kU8, of as many bytes as PackedWeightBytes says (0: they read the weight).
  virtual std::int64_t PackedWeightBytes(const LinearWeight& weight) const = 0;
  virtual void PackWeight(const LinearWeight& weight, const Tensor& packed) = 0;
  // The row width of y and dy with which products of bf16 tensors without a bias are fast: that of
  // whole blocks of the packed weight. Else outputs().
  virtual std::int64_t FastWidth(const LinearWeight& weight) const { return weight.outputs(); }

  virtual bool FusesActivation(Activation activation) const = 0;
  // x [M, K], weight of K inputs and N outputs, bias [N] or none, residual [M, N] or none, y [M, N]
  virtual std::int64_t LinearForwardScratch(const Tensor& x, const LinearWeight& weight) const = 0;
  virtual void LinearForward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                             const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                             void* scratch) = 0;
  // dx [M, K] = dy [M, N] weight [N, K]
  virtual std::int64_t LinearBackwardDataScratch(const Tensor& dy,
                                                 const LinearWeight& weight) const = 0;
  virtual void LinearBackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx,
                                  bool accumulate, void* scratch) = 0;
  // dweight = dy^T x, or x^T dy where it is [K, N]; dbias [N] = column sums of dy, or none
  virtual std::int64_t LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                                   bool accumulate) const = 0;
  virtual void LinearBackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                                    const Tensor& dbias, bool accumulate, void* scratch) = 0;
};

}  // namespace frugal

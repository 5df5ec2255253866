#pragma once

#include <cstdint>
#include <utility>

#include "sdk/backend/activation.h"
#include "sdk/backend/geometry.h"
#include "sdk/tensor/tensor.h"

// The kernel interface, a small abstract class per family. Conventions for all of them:
//
// - Tensors are contiguous and row-major, channels last; shapes are already checked by the ops.
//   All floating tensors of a call have one element type unless said otherwise. A Tensor that is
//   false (empty) means "not given".
// - A kernel takes no memory. Where it needs scratch, a const method `<Kernel>Scratch` tells the
//   bytes from shapes alone, and the caller hands in at least that much (aligned to 64 bytes).
// - `accumulate` adds to what the destination holds; otherwise it is overwritten, whatever it held.
// - The same call on the same number of threads gives the same bits: partial sums are split by
//   fixed chunks, never by which thread came first.
// - M rows, K inputs, N outputs of a product; S spatial positions; C channels; D features.
namespace frugal {

// y = activation(x w^T + bias + residual): fused into one pass over y.
struct LinearEpilogue {
  Activation activation = Activation::kIdentity;  // only kinds for which FusesActivation is true
  double parameter = 0;
};

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

class ConvKernels {
 public:
  virtual ~ConvKernels() = default;

  virtual bool FusesActivation(Activation activation) const = 0;
  // x [N, in..., Cin], weight [Cout, Cin / groups, kernel...], bias [Cout] or none
  virtual std::int64_t ForwardScratch(const ConvGeometry& g, DType dtype) const = 0;
  virtual void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                       const Tensor& bias, const Tensor& y, LinearEpilogue epilogue,
                       void* scratch) = 0;
  virtual std::int64_t BackwardDataScratch(const ConvGeometry& g, DType dtype) const = 0;
  virtual void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight,
                            const Tensor& dx, void* scratch) = 0;
  // dbias [Cout] or none
  virtual std::int64_t BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                             bool accumulate) const = 0;
  virtual void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                              const Tensor& dweight, const Tensor& dbias, bool accumulate,
                              void* scratch) = 0;
};

class PoolKernels {
 public:
  virtual ~PoolKernels() = default;

  // Bytes of the record of where each maximum lay, which only this backend reads (kU8 tensor).
  virtual std::int64_t MaxIndexBytes(const PoolGeometry& g, DType dtype) const = 0;
  virtual std::int64_t Scratch(const PoolGeometry& g, DType dtype) const = 0;
  virtual void MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                          const Tensor& index, void* scratch) = 0;
  virtual void MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index,
                           const Tensor& dx, void* scratch) = 0;
  virtual void AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                              void* scratch) = 0;
  virtual void AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                               void* scratch) = 0;
  // Output position i averages the input positions floor(i in / out) .. ceil((i + 1) in / out);
  // kernel, stride and padding of the geometry are not used.
  virtual void AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) = 0;
  virtual void AdaptiveBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx) = 0;
};

// Normalizations with optional scale `weight` and shift `bias`; variances are biased (divide by n).
// mean and rstd (1 / sqrt(variance + epsilon)) are written by forward and read by backward; they
// have the element type of x, except kF32 where x is kBF16.
class NormKernels {
 public:
  virtual ~NormKernels() = default;

  // Returns true where these kernels take bf16 tensors of so many channels.
  virtual bool TakesBf16(std::int64_t /*channels*/) const { return false; }

  // x, y [M, D]; weight, bias [D] or none; mean, rstd [M]
  virtual void LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            double epsilon, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd) = 0;
  virtual std::int64_t LayerBackwardScratch(const Tensor& x) const = 0;
  virtual void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                             const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                             const Tensor& dweight, const Tensor& dbias, bool accumulate,
                             void* scratch) = 0;

  // x, y [N, S, C]; weight, bias [C] or none; mean, rstd [N, G]
  virtual void GroupForward(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                            const Tensor& bias, double epsilon, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd) = 0;
  // y as GroupForward wrote it, again from what it found: the same bits.
  virtual void GroupNormalize(const GroupNormGeometry& g, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                              const Tensor& y) = 0;
  virtual std::int64_t GroupBackwardScratch(const GroupNormGeometry& g, DType dtype) const = 0;
  virtual void GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                             const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                             const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                             bool accumulate, void* scratch) = 0;

  // x, y [M, C]; statistics over M; mean, rstd [C]. y = relu?(normalized).
  virtual std::int64_t BatchScratch(const Tensor& x) const = 0;
  virtual void BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            double epsilon, bool relu, const Tensor& y, const Tensor& mean,
                            const Tensor& rstd, void* scratch) = 0;
  // y as BatchForward wrote it, again from what it found: the same bits.
  virtual void BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const Tensor& mean, const Tensor& rstd, bool relu, const Tensor& y,
                              void* scratch) = 0;
  // Normalizes with given statistics (evaluation): running_mean, running_variance [C].
  virtual void BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const Tensor& running_mean, const Tensor& running_variance,
                              double epsilon, bool relu, const Tensor& y) = 0;
  // Where relu is set, the gradient is cut where y was not above 0; that is found from x again.
  virtual void BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                             const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                             bool relu, const Tensor& dx, const Tensor& dweight,
                             const Tensor& dbias, bool accumulate, void* scratch) = 0;
  // Writes the gradients of BatchInference, whose statistics do not depend on x. The relu cuts by
  // y, or, where that is empty, by what x makes; else x is read only where dweight is given.
  // Scratch: BatchScratch(dy).
  virtual void BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                      const Tensor& running_mean, const Tensor& running_variance,
                                      const Tensor& weight, const Tensor& bias, double epsilon,
                                      bool relu, const Tensor& dx, const Tensor& dweight,
                                      const Tensor& dbias, bool accumulate, void* scratch) = 0;
  // running = (1 - momentum) running + momentum * batch statistic; the variance is made unbiased
  // with M / (M - 1) from rstd, as PyTorch does. Batch statistics that are not finite leave the
  // running ones as they are: of a training that diverges, the last good ones. mean, rstd,
  // running_* [C]
  virtual void UpdateRunning(const Tensor& mean, const Tensor& rstd, double epsilon,
                             double momentum, std::int64_t rows, const Tensor& running_mean,
                             const Tensor& running_variance) = 0;
};

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

enum class Regression : std::uint8_t {
  kMse,            // (x - t)^2
  kL1,             // |x - t|
  kHuber,          // d = |x - t| <= delta ? d^2 / 2 : delta (d - delta / 2)
  kBceWithLogits,  // binary cross entropy of sigmoid(x) against t, in its stable form
};

class LossKernels {
 public:
  virtual ~LossKernels() = default;

  // The softmax is taken along the last axis, x and y [M, D]; y may be x.
  virtual void SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) = 0;
  virtual void SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                               const Tensor& dx) = 0;

  // logits [M, V], targets kI64 [M], log_sum_exp [M] (written by forward, read by backward),
  // loss [1] = mean over the rows whose target is not ignore_index. With smoothing e the target
  // distribution is (1 - e) one-hot + e / V. Throws DataError on a target outside [0, V).
  struct CrossEntropyOptions {
    double label_smoothing = 0;
    std::int64_t ignore_index = -100;
    // CrossEntropyInPlace only: logits of a row, if not all of its columns; those behind get 0.
    std::int64_t classes = 0;
  };
  virtual void CrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                   CrossEntropyOptions options, const Tensor& log_sum_exp,
                                   const Tensor& loss) = 0;
  // dloss [1]; dlogits may be logits.
  virtual void CrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                    const Tensor& targets, CrossEntropyOptions options,
                                    const Tensor& log_sum_exp, const Tensor& dlogits) = 0;

  // Both at once, row by row while it is in the caches: adds up the loss of the rows that count,
  // and writes factor * (softmax - target distribution) over the logits.
  struct CrossEntropySums {
    double loss = 0;
    std::int64_t correct = 0;  // rows whose target has the largest logit, as CountCorrect
  };
  virtual CrossEntropySums CrossEntropyInPlace(const Tensor& logits, const Tensor& targets,
                                               CrossEntropyOptions options, double factor) = 0;

  // x and target of one shape; loss [1] = mean. `delta` is for kHuber.
  virtual void RegressionForward(Regression kind, double delta, const Tensor& x,
                                 const Tensor& target, const Tensor& loss) = 0;
  virtual void RegressionBackward(Regression kind, double delta, const Tensor& dloss,
                                  const Tensor& x, const Tensor& target, const Tensor& dx) = 0;
  // The gradient towards the target.
  virtual void RegressionTargetBackward(Regression kind, double delta, const Tensor& dloss,
                                        const Tensor& x, const Tensor& target,
                                        const Tensor& dtarget) = 0;

  // How many rows of x [M, V] have their largest value at targets [M] (the first of equals).
  virtual std::int64_t CountCorrect(const Tensor& x, const Tensor& targets) = 0;
};

// Updates in one pass over parameter, gradient and state. `gradient_scale` multiplies the gradient
// first (clipping). The state has the type of the parameter, or, where that is f32, is kBF16 or kU8
// of BlockStateBytes (sdk/backend/state_codec.h), rounded by noise of `noise_key`: the same key
// gives the same bits, and each parameter and step has its own.
struct SgdArguments {
  double learning_rate = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient
  bool nesterov = false;
  bool first_step = false;  // the momentum buffer starts as the first gradient
  double gradient_scale = 1;
  std::uint64_t noise_key = 0;
};
struct AdamArguments {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: parameter *= 1 - learning_rate * weight_decay
  std::int64_t step = 1;   // counts from 1, for the bias corrections
  double gradient_scale = 1;
  std::uint64_t noise_key = 0;
};

class OptimizerKernels {
 public:
  virtual ~OptimizerKernels() = default;

  // momentum_buffer is empty where momentum is 0.
  virtual void Sgd(const SgdArguments& arguments, const Tensor& gradient,
                   const Tensor& momentum_buffer, const Tensor& parameter) = 0;
  virtual void Adam(const AdamArguments& arguments, const Tensor& gradient,
                    const Tensor& first_moment, const Tensor& second_moment,
                    const Tensor& parameter) = 0;
  // Sum of squares in double precision, chunk by chunk.
  virtual double SumOfSquares(const Tensor& x) = 0;
};

}  // namespace frugal

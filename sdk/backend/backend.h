#pragma once

#include <memory>
#include <string_view>

#include "sdk/backend/adaptive_kernels.h"
#include "sdk/backend/array_kernels.h"
#include "sdk/backend/attention_kernels.h"
#include "sdk/backend/conv_kernels.h"
#include "sdk/backend/elementwise_kernels.h"
#include "sdk/backend/loss_kernels.h"
#include "sdk/backend/modulation_kernels.h"
#include "sdk/backend/norm_kernels.h"
#include "sdk/backend/optimizer_kernels.h"
#include "sdk/backend/pool_kernels.h"
#include "sdk/backend/product_kernels.h"
#include "sdk/backend/sequence_kernels.h"

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

// A complete set of kernels. Threads: one uses it at a time; the kernels themselves use teams of as
// many as SetThreadCount says.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  virtual bool Supports(DType dtype) const = 0;
  // The type that products of such tensors are computed in: a wider one where the processor has no
  // instructions for it.
  virtual DType ProductType(DType dtype) const { return dtype; }

  virtual ProductKernels& product() = 0;
  virtual ConvKernels& conv() = 0;
  virtual PoolKernels& pool() = 0;
  virtual NormKernels& norm() = 0;
  virtual ElementwiseKernels& elementwise() = 0;
  virtual LossKernels& loss() = 0;
  virtual OptimizerKernels& optimizer() = 0;
  virtual AdaptiveKernels& adaptive() = 0;
  virtual ArrayKernels& array() = 0;
  virtual ResampleKernels& resample() = 0;
  virtual SequenceKernels& sequence() = 0;
  virtual AttentionKernels& attention() = 0;
  virtual ModulationKernels& modulation() = 0;
};

enum class BackendKind : std::uint8_t { kOneDnn, kEigen };
std::string_view NameOf(BackendKind kind);  // "onednn", "eigen"

// Reference: complete in f32 and f64, plain loops and Eigen products.
std::unique_ptr<Backend> MakeEigenBackend();
// How products of f32 tensors are computed.
enum class F32Products : std::uint8_t {
  kExact,
  kSplit,  // as the sum of three bf16 products on matrix tiles, where the processor has these
};
// Returns whether this processor has matrix tiles for F32Products::kSplit.
bool HasSplitProducts();

// Fast: f32 and bf16; overrides what is hot and takes the rest from the reference.
std::unique_ptr<Backend> MakeOneDnnBackend(F32Products products = F32Products::kExact);
// The reference knows exact products alone.
std::unique_ptr<Backend> MakeBackend(BackendKind kind, F32Products products = F32Products::kExact);

// Number of threads that kernels use from now on, where the calling thread runs them; 0 = what the
// process began with: OMP_NUM_THREADS, else all cores that it may run on. Threads: each has a
// number of its own, and begins with that.
void SetThreadCount(int threads);
int ThreadCount();

}  // namespace frugal

#pragma once

#include <cstddef>
#include <variant>

#include "sdk/backend/activation.h"
#include "sdk/backend/geometry.h"
#include "sdk/backend/product_kernels.h"

// These plain values say what oneDNN is asked for: they are the keys of the operation cache.
// Element types are kF32 or kBF16, whose products add up in f32.
namespace frugal::onednn {

// y [rows, outputs] = activation(x [rows, inputs] weight^T + bias + residual)
struct LinearDescription {
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  WeightLayout layout = WeightLayout::kOutIn;
  bool packed = false;  // copy the weight into the primitive's own layout first
  bool bias = false;
  bool residual = false;
  LinearEpilogue epilogue;

  bool operator==(const LinearDescription& other) const;
};

enum class Pass : std::uint8_t { kForward, kBackwardData, kBackwardWeight };

// Describes products of bf16 tensors, which are added up in f32. The weight is read from its packed
// copy (PackedWeight, primitive/recipes.h). kForward: y = activation(x weight^T + bias + residual).
// kBackwardData: dx = dy weight. kBackwardWeight: dweight (f32, [outputs, inputs] or
// [inputs, outputs]) = or += dy^T x.
struct PackedLinearDescription {
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  Pass pass = Pass::kForward;
  WeightLayout layout = WeightLayout::kOutIn;  // of dweight
  bool accumulate = false;                     // dweight
  bool bias = false;
  bool residual = false;
  LinearEpilogue epilogue;

  bool operator==(const PackedLinearDescription& other) const;
};

// The copy of an f32 weight into what PackedLinearDescription reads.
struct PackDescription {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  WeightLayout layout = WeightLayout::kOutIn;

  bool operator==(const PackDescription&) const = default;
};

// c [m, n] = or += op(a) op(b) of f32 matrices, of which 'T' transposes and 'N' does not: a
// (Slot::kSource) lies as [m, k] or [k, m], b (Slot::kWeight) as [k, n] or [n, k].
struct GemmDescription {
  char transpose_a = 'N';
  char transpose_b = 'N';
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool accumulate = false;

  bool operator==(const GemmDescription&) const = default;
};

struct ConvDescription {
  ConvGeometry geometry;
  Pass pass = Pass::kForward;
  DType dtype = DType::kF32;  // of activations; weights and their gradients are f32 outside
  bool bias = false;
  bool accumulate = false;  // backward weight only
  LinearEpilogue epilogue;  // forward only

  bool operator==(const ConvDescription& other) const;
};

// Average pooling.
struct PoolDescription {
  PoolGeometry geometry;
  bool backward = false;

  bool operator==(const PoolDescription&) const = default;
};

// `size` numbers. Backward reads the input.
struct EltwiseDescription {
  Activation kind = Activation::kGelu;
  double parameter = 0;
  std::int64_t size = 0;
  DType dtype = DType::kF32;
  bool backward = false;

  bool operator==(const EltwiseDescription&) const = default;
};

// The softmax is taken along the columns. Backward reads the output.
struct SoftmaxDescription {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DType dtype = DType::kF32;
  bool logarithm = false;
  bool backward = false;

  bool operator==(const SoftmaxDescription&) const = default;
};

using Description =
    std::variant<LinearDescription, PackedLinearDescription, PackDescription, GemmDescription,
                 ConvDescription, PoolDescription, EltwiseDescription, SoftmaxDescription>;

// Adds to a description what else an operation depends on.
struct OperationKey {
  Description description;
  int threads = 1;

  bool operator==(const OperationKey&) const = default;
};

struct OperationKeyHash {
  std::size_t operator()(const OperationKey& key) const;
};

}  // namespace frugal::onednn

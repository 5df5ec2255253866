#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sdk/core/bfloat16.h"
#include "sdk/core/random.h"
#include "sdk/memory/system_memory.h"
#include "sdk/tensor/tensor.h"

// Tensors for tests: made from numbers, read back as doubles, compared.
namespace frugal::testing {

inline HeapAllocator& Heap() {
  static HeapAllocator heap;
  return heap;
}

// Memory full of ones in every bit: NaN in floating types, so that a kernel which reads what it
// should write shows.
inline Tensor Uninitialized(const Shape& shape, DType dtype = DType::kF32) {
  Tensor tensor(Heap(), shape, dtype, MemoryTag::kActivation);
  if (tensor.bytes() > 0) std::memset(tensor.raw(), 0xff, static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

// Scratch for a kernel that asks for `bytes`.
inline Tensor ScratchOf(std::int64_t bytes) { return Uninitialized({bytes}, DType::kU8); }

// `values` in row-major order, converted to `dtype`.
template <class Value>
Tensor MakeTensor(const Shape& shape, const std::vector<Value>& values, DType dtype = DType::kF32) {
  Tensor tensor = Uninitialized(shape, dtype);
  assert(static_cast<std::int64_t>(values.size()) == tensor.size());
  const auto fill = [&]<class T>(T* out) {
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
  };
  switch (dtype) {
    case DType::kF32:
      fill(tensor.data<float>());
      break;
    case DType::kF64:
      fill(tensor.data<double>());
      break;
    case DType::kI64:
      fill(tensor.data<std::int64_t>());
      break;
    case DType::kI32:
      fill(tensor.data<std::int32_t>());
      break;
    case DType::kU8:
      fill(tensor.data<std::uint8_t>());
      break;
    case DType::kBF16:
      for (std::size_t i = 0; i < values.size(); ++i) {
        tensor.data<BFloat16>()[i] = BFloat16(static_cast<float>(values[i]));
      }
      break;
  }
  return tensor;
}

inline Tensor Full(const Shape& shape, double value, DType dtype = DType::kF32) {
  const auto count = static_cast<std::size_t>(shape.ElementCount());
  return MakeTensor(shape, std::vector<double>(count, value), dtype);
}

// Uniform in [low, high); the same numbers (rounded) in every element type.
inline Tensor RandomTensor(const Shape& shape, std::uint64_t seed, DType dtype = DType::kF32,
                           double low = -1, double high = 1) {
  std::vector<double> values(static_cast<std::size_t>(shape.ElementCount()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = low + (high - low) * UniformAt(seed, i);
  }
  return MakeTensor(shape, values, dtype);
}

inline std::vector<double> Values(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.size()));
  const auto read = [&]<class T>(const T* in) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(in[i]);
  };
  switch (tensor.dtype()) {
    case DType::kF32:
      read(tensor.data<float>());
      break;
    case DType::kF64:
      read(tensor.data<double>());
      break;
    case DType::kI64:
      read(tensor.data<std::int64_t>());
      break;
    case DType::kI32:
      read(tensor.data<std::int32_t>());
      break;
    case DType::kU8:
      read(tensor.data<std::uint8_t>());
      break;
    case DType::kBF16:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(static_cast<float>(tensor.data<BFloat16>()[i]));
      }
      break;
  }
  return values;
}

inline double Value(const Tensor& tensor, std::int64_t index = 0) {
  return Values(tensor)[static_cast<std::size_t>(index)];
}

// Largest |a - b|; infinite where the sizes differ or any difference is not a number.
inline double MaxError(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a[i] - b[i]);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}
inline double MaxError(const Tensor& a, const std::vector<double>& b) {
  return MaxError(Values(a), b);
}
inline double MaxError(const Tensor& a, const Tensor& b) { return MaxError(Values(a), Values(b)); }

// norm(actual - expected) / norm(expected); infinite where the sizes differ or one is not a number.
inline double RelativeError(const std::vector<double>& actual,
                            const std::vector<double>& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  if (difference == 0) return 0;
  const double error = std::sqrt(difference / norm);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}
inline double RelativeError(const Tensor& actual, const std::vector<double>& expected) {
  return RelativeError(Values(actual), expected);
}
inline double RelativeError(const Tensor& actual, const Tensor& expected) {
  return RelativeError(Values(actual), Values(expected));
}

// Central differences of f by each element of x (f64), which f reads.
template <class Function>
std::vector<double> NumericGradient(const Function& f, const Tensor& x, double step = 1e-5) {
  std::vector<double> gradient;
  for (double& value : x.values<double>()) {
    const double kept = value;
    value = kept + step;
    const double above = f();
    value = kept - step;
    const double below = f();
    value = kept;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

// Sum of a[i] b[i]: a scalar to differentiate.
inline double Dot(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = Values(a);
  const std::vector<double> right = Values(b);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

// Returns true where shape, element type and every bit agree.
inline bool SameBits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         (a.bytes() == 0 ||
          std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0);
}

}  // namespace frugal::testing

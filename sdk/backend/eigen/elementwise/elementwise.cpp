#include "sdk/backend/eigen/elementwise/elementwise.h"

#include <cstring>

#include "sdk/backend/common/activation_range.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"

namespace frugal {
namespace eigen {
namespace {

// Where destination and source may be the same tensor, the pragma tells the compiler that they
// overlap in no other way.
template <class T>
void AddRange(const T* a, const T* b, T* sum, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void ScaleRange(const T* x, T factor, T* y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] * factor;
}

void CopyBytes(const Tensor& from, const Tensor& to) {
  if (from.raw() == to.raw()) return;
  const auto* source = static_cast<const char*>(from.raw());
  auto* destination = static_cast<char*>(to.raw());
  ParallelFor(to.bytes(), std::int64_t{1} << 18, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(destination + begin, source + begin, static_cast<std::size_t>(end - begin));
  });
}

template <class From, class To>
void ConvertAll(const From* from, To* to, std::int64_t count) {
  ParallelFor(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  });
}

template <class To>
void ConvertTo(const Tensor& from, const Tensor& to) {
  To* out = to.data<To>();
  switch (from.dtype()) {
    case DType::kF32:
      return ConvertAll(from.data<float>(), out, to.size());
    case DType::kF64:
      return ConvertAll(from.data<double>(), out, to.size());
    case DType::kI64:
      return ConvertAll(from.data<std::int64_t>(), out, to.size());
    case DType::kI32:
      return ConvertAll(from.data<std::int32_t>(), out, to.size());
    case DType::kU8:
      return ConvertAll(from.data<std::uint8_t>(), out, to.size());
    case DType::kBF16:
      break;
  }
  ThrowUnsupported("copy", from.dtype());
}

}  // namespace
}  // namespace eigen

void EigenElementwiseKernels::ActivationForward(Activation kind, double parameter, const Tensor& x,
                                                const Tensor& y) {
  eigen::WithFloating(NameOf(kind), x.dtype(), [&]<class T>() {
    eigen::ParallelFor(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::ActivateRange(kind, parameter, x.data<T>() + begin, y.data<T>() + begin, end - begin);
    });
  });
}

void EigenElementwiseKernels::ActivationBackward(Activation kind, double parameter,
                                                 const Tensor& dy, const Tensor& kept,
                                                 const Tensor& dx) {
  eigen::WithFloating(NameOf(kind), dy.dtype(), [&]<class T>() {
    eigen::ParallelFor(dy.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::ActivateGradientRange(kind, parameter, dy.data<T>() + begin, kept.data<T>() + begin,
                                   dx.data<T>() + begin, end - begin);
    });
  });
}

void EigenElementwiseKernels::Add(const Tensor& a, const Tensor& b, const Tensor& sum) {
  eigen::WithFloating("add", a.dtype(), [&]<class T>() {
    eigen::ParallelFor(a.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::AddRange(a.data<T>() + begin, b.data<T>() + begin, sum.data<T>() + begin, end - begin);
    });
  });
}

void EigenElementwiseKernels::Scale(const Tensor& x, double factor, const Tensor& y) {
  eigen::WithFloating("scale", x.dtype(), [&]<class T>() {
    eigen::ParallelFor(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      eigen::ScaleRange(x.data<T>() + begin, static_cast<T>(factor), y.data<T>() + begin,
                        end - begin);
    });
  });
}

void EigenElementwiseKernels::Fill(const Tensor& x, double value) {
  if (value == 0) {  // all bits zero in every element type
    auto* bytes = static_cast<char*>(x.raw());
    eigen::ParallelFor(x.bytes(), std::int64_t{1} << 18, [&](std::int64_t begin, std::int64_t end) {
      std::memset(bytes + begin, 0, static_cast<std::size_t>(end - begin));
    });
    return;
  }
  eigen::WithFloating("fill", x.dtype(), [&]<class T>() {
    eigen::ParallelFor(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      std::fill(x.data<T>() + begin, x.data<T>() + end, static_cast<T>(value));
    });
  });
}

void EigenElementwiseKernels::Copy(const Tensor& from, const Tensor& to) {
  if (from.dtype() == to.dtype()) return eigen::CopyBytes(from, to);
  eigen::WithFloating("copy", to.dtype(), [&]<class T>() { eigen::ConvertTo<T>(from, to); });
}

}  // namespace frugal

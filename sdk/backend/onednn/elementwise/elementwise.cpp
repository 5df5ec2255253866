#include "sdk/backend/onednn/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/upcast_tensors.h"

namespace frugal {
namespace {

using onednn::Slot;
using onednn::UpcastTensors;

bool IsOurs(const Tensor& x) { return onednn::IsFast(x.dtype()); }

// body.operator()<element type>(first element, elements) over fixed pieces of x
template <class Body>
void ForPieces(const Tensor& x, const Body& body) {
  onednn::WithElement(x.dtype(), [&]<class T>() {
    eigen::ParallelFor(x.size(), eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      body.template operator()<T>(begin, end - begin);
    });
  });
}

Tensor PieceOf(const Tensor& x, std::int64_t at, std::int64_t count) {
  return x.Reshape({x.size()}).Narrow(at, count);
}

// For bf16 on processors without instructions for it, where oneDNN has no such function.
// Elementwise kernels are given no scratch, so f32 copies of `kTensors` pieces at a time lie on the
// stack. body(first element, elements, where the copies go)
template <int kTensors, class Body>
void ForUpcastPieces(const Tensor& x, const Body& body) {
  constexpr std::int64_t kPiece = 4 * eigen::kChunk;  // something for a few threads
  alignas(kMemoryAlignment) std::array<float, kTensors * kPiece> memory;
  for (std::int64_t at = 0; at < x.size(); at += kPiece) {
    UpcastTensors tensors(memory.data());
    body(at, std::min(kPiece, x.size() - at), tensors);
  }
}

}  // namespace

onednn::Operation* OneDnnElementwiseKernels::Find(const onednn::EltwiseDescription& d) const {
  if (d.size == 0) return nullptr;
  auto* operation = cache_.Find(d);
  return operation != nullptr && operation->ScratchBytes() == 0 ? operation : nullptr;
}

void OneDnnElementwiseKernels::ActivationForward(Activation kind, double parameter, const Tensor& x,
                                                 const Tensor& y) {
  if (!IsOurs(x)) return EigenElementwiseKernels::ActivationForward(kind, parameter, x, y);
  const auto number = static_cast<std::size_t>(kind);
  const bool has_loop = onednn::WithElement(x.dtype(), [&]<class T>() {
    return loops_.Of<T>().elementwise.activation_forward[number] != nullptr;
  });
  if (has_loop) {
    ForPieces(x, [&]<class T>(std::int64_t at, std::int64_t count) {
      loops_.Of<T>().elementwise.activation_forward[number](
          x.data<T>() + at, static_cast<float>(parameter), y.data<T>() + at, count);
    });
  } else if (auto* operation = Find({kind, parameter, x.size(), x.dtype(), false})) {
    operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, nullptr);
  } else if (x.dtype() == DType::kBF16) {
    ForUpcastPieces<2>(x, [&](std::int64_t at, std::int64_t count, UpcastTensors& tensors) {
      const Tensor wide_x = tensors.CastToF32(PieceOf(x, at, count));
      const Tensor wide_y = tensors.Take({count});
      ActivationForward(kind, parameter, wide_x, wide_y);
      onednn::DowncastInto(PieceOf(y, at, count), wide_y);
    });
  } else {
    EigenElementwiseKernels::ActivationForward(kind, parameter, x, y);
  }
}

void OneDnnElementwiseKernels::ActivationBackward(Activation kind, double parameter,
                                                  const Tensor& dy, const Tensor& kept,
                                                  const Tensor& dx) {
  if (!IsOurs(dy)) {
    return EigenElementwiseKernels::ActivationBackward(kind, parameter, dy, kept, dx);
  }
  const auto number = static_cast<std::size_t>(kind);
  const bool has_loop = onednn::WithElement(dy.dtype(), [&]<class T>() {
    return loops_.Of<T>().elementwise.activation_backward[number] != nullptr;
  });
  if (has_loop) {
    ForPieces(dy, [&]<class T>(std::int64_t at, std::int64_t count) {
      loops_.Of<T>().elementwise.activation_backward[number](dy.data<T>() + at, kept.data<T>() + at,
                                                             static_cast<float>(parameter),
                                                             dx.data<T>() + at, count);
    });
  } else if (auto* operation = Find({kind, parameter, dy.size(), dy.dtype(), true})) {
    operation->Run({{Slot::kSource, kept.raw()},
                    {Slot::kDestinationGradient, dy.raw()},
                    {Slot::kSourceGradient, dx.raw()}},
                   nullptr);
  } else if (dy.dtype() == DType::kBF16) {
    ForUpcastPieces<3>(dy, [&](std::int64_t at, std::int64_t count, UpcastTensors& tensors) {
      const Tensor wide_dy = tensors.CastToF32(PieceOf(dy, at, count));
      const Tensor wide_kept = tensors.CastToF32(PieceOf(kept, at, count));
      const Tensor wide_dx = tensors.Take({count});
      ActivationBackward(kind, parameter, wide_dy, wide_kept, wide_dx);
      onednn::DowncastInto(PieceOf(dx, at, count), wide_dx);
    });
  } else {
    EigenElementwiseKernels::ActivationBackward(kind, parameter, dy, kept, dx);
  }
}

void OneDnnElementwiseKernels::Add(const Tensor& a, const Tensor& b, const Tensor& sum) {
  if (!IsOurs(a)) return EigenElementwiseKernels::Add(a, b, sum);
  ForPieces(a, [&]<class T>(std::int64_t at, std::int64_t count) {
    loops_.Of<T>().elementwise.add(a.data<T>() + at, b.data<T>() + at, sum.data<T>() + at, count);
  });
}

void OneDnnElementwiseKernels::Scale(const Tensor& x, double factor, const Tensor& y) {
  if (!IsOurs(x)) return EigenElementwiseKernels::Scale(x, factor, y);
  ForPieces(x, [&]<class T>(std::int64_t at, std::int64_t count) {
    loops_.Of<T>().elementwise.scale(x.data<T>() + at, static_cast<float>(factor), y.data<T>() + at,
                                     count);
  });
}

void OneDnnElementwiseKernels::Fill(const Tensor& x, double value) {
  if (!IsOurs(x)) return EigenElementwiseKernels::Fill(x, value);
  ForPieces(x, [&]<class T>(std::int64_t at, std::int64_t count) {
    loops_.Of<T>().elementwise.fill(static_cast<float>(value), x.data<T>() + at, count);
  });
}

void OneDnnElementwiseKernels::Copy(const Tensor& from, const Tensor& to) {
  const bool widens = from.dtype() == DType::kBF16 && to.dtype() == DType::kF32;
  const bool narrows = from.dtype() == DType::kF32 && to.dtype() == DType::kBF16;
  if (!widens && !narrows) return EigenElementwiseKernels::Copy(from, to);
  eigen::ParallelFor(to.size(), eigen::kChunk, [&](std::int64_t at, std::int64_t end) {
    if (widens) {
      loops_.conversion.widen(from.data<BFloat16>() + at, to.data<float>() + at, end - at);
    } else {
      loops_.conversion.narrow(from.data<float>() + at, to.data<BFloat16>() + at, end - at);
    }
  });
}

// Bit-equal with the reference: the same words, compared as whole numbers.
void OneDnnElementwiseKernels::Dropout(const Tensor& x, double rate, std::uint64_t key,
                                       const Tensor& y) {
  if (rate <= 0) return Copy(x, y);
  if (!IsOurs(x)) return EigenElementwiseKernels::Dropout(x, rate, key, y);
  const auto threshold = static_cast<std::uint32_t>(std::ceil(std::min(rate, 1.0) * 16777216.0));
  const auto scale = static_cast<float>(rate < 1 ? 1 / (1 - rate) : 0);
  ForPieces(x, [&]<class T>(std::int64_t at, std::int64_t count) {
    loops_.Of<T>().elementwise.dropout(x.data<T>() + at, key, static_cast<std::uint64_t>(at) / 4,
                                       threshold, scale, y.data<T>() + at, count);
  });
}

}  // namespace frugal

#include "sdk/backend/onednn/elementwise.h"

#include <cmath>

#include "sdk/backend/eigen/parallel.h"

namespace frugal {
namespace {

using onednn::Slot;

bool IsOurs(const Tensor& x) { return x.dtype() == DType::kF32; }

// body(first element, elements) over fixed pieces of x
template <class Body>
void ForPieces(const Tensor& x, const Body& body) {
  eigen::ParallelFor(x.size(), eigen::kChunk,
                     [&](std::int64_t begin, std::int64_t end) { body(begin, end - begin); });
}

}  // namespace

// Elementwise kernels are given no scratch.
onednn::Operation* OneDnnElementwiseKernels::Find(const onednn::EltwiseDescription& d) const {
  if (d.size == 0) return nullptr;
  auto* operation = cache_.Find(d);
  return operation != nullptr && operation->ScratchBytes() == 0 ? operation : nullptr;
}

void OneDnnElementwiseKernels::ActivationForward(Activation kind, double parameter, const Tensor& x,
                                                 const Tensor& y) {
  if (!IsOurs(x)) return EigenElementwiseKernels::ActivationForward(kind, parameter, x, y);
  if (const auto loop = loops_.activation_forward[static_cast<std::size_t>(kind)]) {
    ForPieces(x, [&](std::int64_t at, std::int64_t count) {
      loop(x.data<float>() + at, static_cast<float>(parameter), y.data<float>() + at, count);
    });
  } else if (auto* operation = Find({kind, parameter, x.size(), false})) {
    operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, nullptr);
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
  if (const auto loop = loops_.activation_backward[static_cast<std::size_t>(kind)]) {
    ForPieces(dy, [&](std::int64_t at, std::int64_t count) {
      loop(dy.data<float>() + at, kept.data<float>() + at, static_cast<float>(parameter),
           dx.data<float>() + at, count);
    });
  } else if (auto* operation = Find({kind, parameter, dy.size(), true})) {
    operation->Run({{Slot::kSource, kept.raw()},
                    {Slot::kDestinationGradient, dy.raw()},
                    {Slot::kSourceGradient, dx.raw()}},
                   nullptr);
  } else {
    EigenElementwiseKernels::ActivationBackward(kind, parameter, dy, kept, dx);
  }
}

void OneDnnElementwiseKernels::Add(const Tensor& a, const Tensor& b, const Tensor& sum) {
  if (!IsOurs(a)) return EigenElementwiseKernels::Add(a, b, sum);
  ForPieces(a, [&](std::int64_t at, std::int64_t count) {
    loops_.add(a.data<float>() + at, b.data<float>() + at, sum.data<float>() + at, count);
  });
}

void OneDnnElementwiseKernels::Scale(const Tensor& x, double factor, const Tensor& y) {
  if (!IsOurs(x)) return EigenElementwiseKernels::Scale(x, factor, y);
  ForPieces(x, [&](std::int64_t at, std::int64_t count) {
    loops_.scale(x.data<float>() + at, static_cast<float>(factor), y.data<float>() + at, count);
  });
}

void OneDnnElementwiseKernels::Fill(const Tensor& x, double value) {
  if (!IsOurs(x)) return EigenElementwiseKernels::Fill(x, value);
  ForPieces(x, [&](std::int64_t at, std::int64_t count) {
    loops_.fill(static_cast<float>(value), x.data<float>() + at, count);
  });
}

// Bit-equal with the reference: the same words, compared as whole numbers.
void OneDnnElementwiseKernels::Dropout(const Tensor& x, double rate, std::uint64_t key,
                                       const Tensor& y) {
  if (!IsOurs(x) || rate <= 0) return EigenElementwiseKernels::Dropout(x, rate, key, y);
  const auto threshold = static_cast<std::uint32_t>(std::ceil(std::min(rate, 1.0) * 16777216.0));
  const auto scale = static_cast<float>(rate < 1 ? 1 / (1 - rate) : 0);
  ForPieces(x, [&](std::int64_t at, std::int64_t count) {
    loops_.dropout(x.data<float>() + at, key, static_cast<std::uint64_t>(at) / 4, threshold, scale,
                   y.data<float>() + at, count);
  });
}

}  // namespace frugal

#include "sdk/backend/onednn/pool.h"

#include <algorithm>

namespace frugal {
namespace {

using onednn::PoolDescription;
using onednn::PoolKind;
using onednn::Slot;

bool IsOurs(const PoolGeometry& g, DType dtype) {
  const WindowGeometry& w = g.window;
  const bool empty = w.batch * w.InputSize() * w.OutputSize() * g.channels == 0;
  return dtype == DType::kF32 && !empty && w.dilation == Spatial{1, 1, 1};
}

bool DividesEvenly(const WindowGeometry& w) {
  for (std::size_t i = 0; i < w.input.size(); ++i) {
    if (w.output[i] == 0 || w.input[i] % w.output[i] != 0) return false;
  }
  return true;
}

// The fixed windows that adaptive pooling amounts to where it divides evenly.
PoolGeometry FixedWindows(const PoolGeometry& g) {
  PoolGeometry fixed = g;
  WindowGeometry& w = fixed.window;
  for (std::size_t i = 0; i < w.input.size(); ++i) w.kernel[i] = w.input[i] / w.output[i];
  w.stride = w.kernel;
  w.padding_begin = w.padding_end = {0, 0, 0};
  w.dilation = {1, 1, 1};
  return fixed;
}

}  // namespace

onednn::Operation* OneDnnPoolKernels::Find(const PoolDescription& d, DType dtype) const {
  if (!IsOurs(d.geometry, dtype)) return nullptr;
  PoolDescription forward{d.geometry, d.kind, false, d.kind == PoolKind::kMax};
  PoolDescription backward{d.geometry, d.kind, true, false};
  if (cache_.Find(forward) == nullptr || cache_.Find(backward) == nullptr) return nullptr;
  return cache_.Find(d);
}

// Adaptive pooling is given no scratch.
onednn::Operation* OneDnnPoolKernels::FindAdaptive(const PoolGeometry& g, DType dtype,
                                                   bool backward) const {
  if (!DividesEvenly(g.window)) return nullptr;
  auto* operation = Find({FixedWindows(g), PoolKind::kAverage, backward}, dtype);
  return operation != nullptr && operation->ScratchBytes() == 0 ? operation : nullptr;
}

std::int64_t OneDnnPoolKernels::MaxIndexBytes(const PoolGeometry& g, DType dtype) const {
  const auto* operation = Find({g, PoolKind::kMax, false, true}, dtype);
  return operation != nullptr ? operation->RecordBytes()
                              : EigenPoolKernels::MaxIndexBytes(g, dtype);
}

std::int64_t OneDnnPoolKernels::Scratch(const PoolGeometry& g, DType dtype) const {
  std::int64_t bytes = 0;
  for (const PoolDescription& d : {PoolDescription{g, PoolKind::kMax, false, false},
                                   {g, PoolKind::kMax, false, true},
                                   {g, PoolKind::kMax, true},
                                   {g, PoolKind::kAverage, false},
                                   {g, PoolKind::kAverage, true}}) {
    const auto* operation = Find(d, dtype);
    bytes = std::max(bytes, operation != nullptr ? operation->ScratchBytes()
                                                 : EigenPoolKernels::Scratch(g, dtype));
  }
  return bytes;
}

void OneDnnPoolKernels::MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                   const Tensor& index, void* scratch) {
  auto* operation = Find({g, PoolKind::kMax, false, static_cast<bool>(index)}, x.dtype());
  if (operation == nullptr) {
    EigenPoolKernels::MaxForward(g, x, y, index, scratch);
    return;
  }
  operation->Run(
      {{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}, {Slot::kRecord, index.raw()}},
      scratch);
}

void OneDnnPoolKernels::MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index,
                                    const Tensor& dx, void* scratch) {
  auto* operation = Find({g, PoolKind::kMax, true}, dy.dtype());
  if (operation == nullptr) {
    EigenPoolKernels::MaxBackward(g, dy, index, dx, scratch);
    return;
  }
  operation->Run({{Slot::kDestinationGradient, dy.raw()},
                  {Slot::kRecord, index.raw()},
                  {Slot::kSourceGradient, dx.raw()}},
                 scratch);
}

void OneDnnPoolKernels::AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                       void* scratch) {
  auto* operation = Find({g, PoolKind::kAverage, false}, x.dtype());
  if (operation == nullptr) {
    EigenPoolKernels::AverageForward(g, x, y, scratch);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, scratch);
}

void OneDnnPoolKernels::AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                                        void* scratch) {
  auto* operation = Find({g, PoolKind::kAverage, true}, dy.dtype());
  if (operation == nullptr) {
    EigenPoolKernels::AverageBackward(g, dy, dx, scratch);
    return;
  }
  operation->Run({{Slot::kDestinationGradient, dy.raw()}, {Slot::kSourceGradient, dx.raw()}},
                 scratch);
}

void OneDnnPoolKernels::AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) {
  auto* operation = FindAdaptive(g, x.dtype(), false);
  if (operation == nullptr) {
    EigenPoolKernels::AdaptiveForward(g, x, y);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, nullptr);
}

void OneDnnPoolKernels::AdaptiveBackward(const PoolGeometry& g, const Tensor& dy,
                                         const Tensor& dx) {
  auto* operation = FindAdaptive(g, dy.dtype(), true);
  if (operation == nullptr) {
    EigenPoolKernels::AdaptiveBackward(g, dy, dx);
    return;
  }
  operation->Run({{Slot::kDestinationGradient, dy.raw()}, {Slot::kSourceGradient, dx.raw()}},
                 nullptr);
}

}  // namespace frugal

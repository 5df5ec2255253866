#include "sdk/backend/onednn/conv/pool.h"

#include <algorithm>

namespace frugal {
namespace {

using onednn::PoolDescription;
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
  return IsOurs(d.geometry, dtype) ? cache_.Find(d) : nullptr;
}

// Adaptive pooling is given no scratch.
onednn::Operation* OneDnnPoolKernels::FindAdaptive(const PoolGeometry& g, DType dtype,
                                                   bool backward) const {
  if (!DividesEvenly(g.window)) return nullptr;
  auto* operation = Find({FixedWindows(g), backward}, dtype);
  return operation != nullptr && operation->ScratchBytes() == 0 ? operation : nullptr;
}

std::int64_t OneDnnPoolKernels::Scratch(const PoolGeometry& g, DType dtype) const {
  std::int64_t bytes = 0;
  for (const bool backward : {false, true}) {
    const auto* operation = Find({g, backward}, dtype);
    bytes = std::max(bytes, operation != nullptr ? operation->ScratchBytes()
                                                 : EigenPoolKernels::Scratch(g, dtype));
  }
  return bytes;
}

void OneDnnPoolKernels::AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                                       void* scratch) {
  auto* operation = Find({g, false}, x.dtype());
  if (operation == nullptr) {
    EigenPoolKernels::AverageForward(g, x, y, scratch);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, scratch);
}

void OneDnnPoolKernels::AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                                        void* scratch) {
  auto* operation = Find({g, true}, dy.dtype());
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

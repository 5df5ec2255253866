#include "sdk/backend/onednn/conv/conv.h"

#include <algorithm>

#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/fused_activations.h"

namespace frugal {

using onednn::ConvDescription;
using onednn::Pass;
using onednn::Slot;

onednn::Operation* OneDnnConvKernels::Find(const ConvDescription& d) const {
  const ConvGeometry& g = d.geometry;
  const bool empty = g.window.batch == 0 || g.window.InputSize() == 0 ||
                     g.window.OutputSize() == 0 || g.input_channels == 0 || g.output_channels == 0;
  return onednn::IsFast(d.dtype) && !empty ? cache_.Find(d) : nullptr;
}

bool OneDnnConvKernels::FusesActivation(Activation activation) const {
  return onednn::IsFused(activation);
}

// The epilogue is not known here: enough for any, oneDNN's or the reference's. By Winograd's method
// oneDNN has none but relu, and one of the others stands for all.
std::int64_t OneDnnConvKernels::ForwardScratch(const ConvGeometry& g, DType dtype) const {
  std::int64_t bytes = 0;
  for (const bool bias : {false, true}) {
    for (const Activation activation :
         {Activation::kIdentity, Activation::kRelu, Activation::kTanh}) {
      const auto* operation = Find({g, Pass::kForward, dtype, bias, false, {activation, 0}});
      bytes = std::max(bytes, operation != nullptr ? operation->ScratchBytes()
                                                   : EigenConvKernels::ForwardScratch(g, dtype));
    }
  }
  return bytes;
}

void OneDnnConvKernels::Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                                const Tensor& bias, const Tensor& y, LinearEpilogue epilogue,
                                void* scratch) {
  auto* operation = Find({g, Pass::kForward, x.dtype(), static_cast<bool>(bias), false, epilogue});
  if (operation == nullptr) {
    EigenConvKernels::Forward(g, x, weight, bias, y, epilogue, scratch);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()},
                  {Slot::kWeight, weight.raw()},
                  {Slot::kBias, bias.raw()},
                  {Slot::kDestination, y.raw()}},
                 scratch);
}

std::int64_t OneDnnConvKernels::BackwardDataScratch(const ConvGeometry& g, DType dtype) const {
  const auto* operation = Find({g, Pass::kBackwardData, dtype, false, false, {}});
  return operation != nullptr ? operation->ScratchBytes()
                              : EigenConvKernels::BackwardDataScratch(g, dtype);
}

void OneDnnConvKernels::BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight,
                                     const Tensor& dx, void* scratch) {
  auto* operation = Find({g, Pass::kBackwardData, dy.dtype(), false, false, {}});
  if (operation == nullptr) {
    EigenConvKernels::BackwardData(g, dy, weight, dx, scratch);
    return;
  }
  operation->Run({{Slot::kDestinationGradient, dy.raw()},
                  {Slot::kWeight, weight.raw()},
                  {Slot::kSourceGradient, dx.raw()}},
                 scratch);
}

std::int64_t OneDnnConvKernels::BackwardWeightScratch(const ConvGeometry& g, DType dtype,
                                                      bool has_bias, bool accumulate) const {
  const auto* operation = Find({g, Pass::kBackwardWeight, dtype, has_bias, accumulate, {}});
  return operation != nullptr
             ? operation->ScratchBytes()
             : EigenConvKernels::BackwardWeightScratch(g, dtype, has_bias, accumulate);
}

void OneDnnConvKernels::BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                                       const Tensor& dweight, const Tensor& dbias, bool accumulate,
                                       void* scratch) {
  const bool bias = static_cast<bool>(dbias);
  auto* operation = Find({g, Pass::kBackwardWeight, dy.dtype(), bias, accumulate, {}});
  if (operation == nullptr) {
    EigenConvKernels::BackwardWeight(g, dy, x, dweight, dbias, accumulate, scratch);
    return;
  }
  operation->Run({{Slot::kSource, x.raw()},
                  {Slot::kDestinationGradient, dy.raw()},
                  {Slot::kWeightGradient, dweight.raw()},
                  {Slot::kBiasGradient, dbias.raw()}},
                 scratch);
}

}  // namespace frugal

#include "sdk/backend/onednn/choose_operation.h"

#include <string_view>
#include <utility>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/conv/conv_weight_gradient.h"
#include "sdk/backend/onednn/conv/implicit_gemm.h"
#include "sdk/backend/onednn/conv/lowered_conv.h"
#include "sdk/backend/onednn/conv/winograd.h"
#include "sdk/backend/onednn/conv/winograd_onednn.h"
#include "sdk/backend/onednn/matmul/blocked_forward.h"
#include "sdk/backend/onednn/matmul/data_gradient.h"
#include "sdk/backend/onednn/matmul/packed_gemm.h"
#include "sdk/backend/onednn/matmul/weight_packing.h"
#include "sdk/backend/onednn/operation/separate_activation.h"
#include "sdk/backend/onednn/primitive/library_error.h"
#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {
namespace {

bool IsReferenceLoop(const Recipe& recipe) {
  const std::string_view name = recipe.descriptor.impl_info_str();
  return name.substr(0, 3) == "ref" || name.find(":ref") != std::string_view::npos;
}

// Makes the operation that oneDNN has of its own, with every activation; else returns nullptr.
std::unique_ptr<Operation> MakeByRecipe(const Description& description) {
  try {
    Recipe recipe = std::visit([](const auto& d) { return MakeRecipe(d); }, description);
    if (IsReferenceLoop(recipe)) return nullptr;
    return MakeOperation(std::move(recipe));
  } catch (const dnnl::error& error) {
    ThrowIfOutOfMemory(error);
    return nullptr;
  }
}

std::unique_ptr<Operation> MakeWinogradOperation(const ConvDescription& d) {
  if (!HasWinogradOneDnn()) return MakeWinograd(d, WinogradScratch(d.geometry));
  return WithSeparateActivation(d, [](const Description& without) {
    const auto& conv = std::get<ConvDescription>(without);
    return MakeWinogradOneDnn(conv, WinogradOneDnnScratch(conv.geometry));
  });
}

std::unique_ptr<Operation> ChooseInF32(const ConvDescription& d) {
  if (LoweredConvBeatsWinograd(d)) return MakeLoweredConv(d);
  auto winograd = MakeWinogradOperation(d);
  return winograd == nullptr && LoweredConvPays(d) ? MakeLoweredConv(d) : std::move(winograd);
}

std::unique_ptr<Operation> ChooseOurs(const ConvDescription& d) {
  if (d.dtype != DType::kBF16) return ChooseInF32(d);
  if (d.pass != Pass::kBackwardWeight) return ImplicitGemmPays(d) ? MakeImplicitGemm(d) : nullptr;
  return ConvWeightGradientPays(d.geometry) ? MakeConvWeightGradient(d) : nullptr;
}

std::unique_ptr<Operation> ChooseOurs(const Description& description) {
  if (const auto* d = std::get_if<LinearDescription>(&description)) return MakeBlockedForward(*d);
  if (const auto* d = std::get_if<PackDescription>(&description)) return MakeWeightPacking(*d);
  if (const auto* d = std::get_if<ConvDescription>(&description)) return ChooseOurs(*d);
  const auto* const d = std::get_if<PackedLinearDescription>(&description);
  if (d == nullptr) return nullptr;
  if (d->pass == Pass::kBackwardData && DataGradientPays(*d)) return MakeDataGradient(*d);
  return PackedGemmPays(*d) ? MakePackedGemm(*d) : nullptr;
}

// Limits what oneDNN may use. oneDNN takes a limit only until its first primitive is made, and then
// says so: a program that used oneDNN before keeps its own limit.
bool LimitInstructions() {
  switch (simd::LimitOfEnvironment()) {
    case simd::IsaLimit::kBaseline:
      return dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41) == dnnl::status::success;
    case simd::IsaLimit::kAvx2:
      return dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) == dnnl::status::success;
    case simd::IsaLimit::kAvx512:
      return dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core) == dnnl::status::success;
    case simd::IsaLimit::kAvx512Bf16:
      return dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16) == dnnl::status::success;
    case simd::IsaLimit::kAmx:
    case simd::IsaLimit::kNone:
      break;
  }
  return true;
}

}  // namespace

std::unique_ptr<Operation> MakePrimitive(const Description& description) {
  return WithSeparateActivation(description, MakeByRecipe);
}

std::unique_ptr<Operation> ChooseOperation(const Description& description) {
  auto ours = ChooseOurs(description);
  return ours ? std::move(ours) : MakePrimitive(description);
}

void PrepareLibrary(int cached) {
  static const bool is_limited = LimitInstructions();
  static_cast<void>(is_limited);
  dnnl::set_primitive_cache_capacity(cached);
}

}  // namespace frugal::onednn

#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {

using dnnl::algorithm;

Desc Describe(const Dims& dims, Tag tag, DType dtype) {
  using Type = dnnl::memory::data_type;
  return Desc(dims, dtype == DType::kBF16 ? Type::bf16 : Type::f32, tag);
}

dnnl::engine Processor() { return dnnl::engine(dnnl::engine::kind::cpu, 0); }

Eltwise EltwiseOf(Activation activation, double parameter) {
  const auto a = static_cast<float>(parameter);
  switch (activation) {
    case Activation::kRelu:
      return {algorithm::eltwise_relu, 0};
    case Activation::kLeakyRelu:
      return {algorithm::eltwise_relu, a};
    case Activation::kElu:
      return {algorithm::eltwise_elu, a};
    case Activation::kSigmoid:
      return {algorithm::eltwise_logistic, 0};
    case Activation::kTanh:
      return {algorithm::eltwise_tanh, 0};
    case Activation::kGelu:
      return {algorithm::eltwise_gelu_erf, 0};
    case Activation::kGeluTanh:
      return {algorithm::eltwise_gelu_tanh, 0};
    case Activation::kQuickGelu:
      return {algorithm::eltwise_swish, 1.702f};
    case Activation::kSilu:
      return {algorithm::eltwise_swish, 1};
    case Activation::kSoftplus:
      return {algorithm::eltwise_soft_relu, 1};
    case Activation::kMish:
      return {algorithm::eltwise_mish, 0};
    case Activation::kExp:
      return {algorithm::eltwise_exp, 0};
    case Activation::kIdentity:
    case Activation::kHardswish:
      break;
  }
  return {algorithm::eltwise_linear, 1};
}

void AppendActivation(const LinearEpilogue& epilogue, dnnl::post_ops& post_ops) {
  if (epilogue.activation == Activation::kIdentity) return;
  AppendEltwise(EltwiseOf(epilogue.activation, epilogue.parameter), post_ops);
}

dnnl::primitive_attr Attributes(const dnnl::post_ops& post_ops) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return attributes;
}

}  // namespace frugal::onednn

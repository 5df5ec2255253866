#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {

Recipe MatmulRecipe(const MatmulParts& parts, const LinearEpilogue& epilogue) {
  const auto& [x, y, weight, inner, outputs, has_bias, has_residual] = parts;
  const Desc bias = has_bias ? Describe({1, outputs}, Tag::ab) : Desc();
  dnnl::post_ops post_ops;
  if (has_residual) post_ops.append_binary(dnnl::algorithm::binary_add, y);
  AppendActivation(epilogue, post_ops);

  const auto engine = Processor();
  const auto descriptor = DescribeMatmul(
      engine, {.source = x, .weight = inner, .destination = y, .bias = bias}, post_ops);
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, x, x},
                 {Slot::kWeight, DNNL_ARG_WEIGHTS, weight, descriptor.weights_desc()},
                 {Slot::kDestination, DNNL_ARG_DST, y, y, true}}};
  if (has_bias) recipe.bindings.push_back({Slot::kBias, DNNL_ARG_BIAS, bias, bias});
  if (has_residual) {
    recipe.bindings.push_back(
        {Slot::kResidual, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, y, y});
  }
  return recipe;
}

Recipe MakeRecipe(const LinearDescription& d) {
  const Desc weight =
      Describe({d.inputs, d.outputs}, d.layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab);
  const Desc inner = d.packed ? Describe({d.inputs, d.outputs}, Tag::any) : weight;
  return MatmulRecipe({.x = Describe({d.rows, d.inputs}, Tag::ab),
                       .y = Describe({d.rows, d.outputs}, Tag::ab),
                       .weight = weight,
                       .inner = inner,
                       .outputs = d.outputs,
                       .bias = d.bias,
                       .residual = d.residual},
                      d.epilogue);
}

}  // namespace frugal::onednn

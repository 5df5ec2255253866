#include "sdk/backend/onednn/recipes.h"

namespace frugal::onednn {

Recipe MakeRecipe(const LinearDescription& d) {
  const Desc x = Describe({d.rows, d.inputs}, Tag::ab);
  const Desc y = Describe({d.rows, d.outputs}, Tag::ab);
  const Desc bias = Describe({1, d.outputs}, Tag::ab);
  const Desc weight =
      Describe({d.inputs, d.outputs}, d.layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab);
  const Desc inner = d.packed ? Describe({d.inputs, d.outputs}, Tag::any) : weight;
  dnnl::post_ops post_ops;
  if (d.residual) post_ops.append_binary(dnnl::algorithm::binary_add, y);
  AppendActivation(d.epilogue, post_ops);

  const auto engine = Processor();
  const auto product =
      d.bias ? dnnl::matmul::desc(x, inner, bias, y) : dnnl::matmul::desc(x, inner, y);
  const dnnl::matmul::primitive_desc descriptor(product, Attributes(post_ops), engine);
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, x, x},
                 {Slot::kWeight, DNNL_ARG_WEIGHTS, weight, descriptor.weights_desc()},
                 {Slot::kDestination, DNNL_ARG_DST, y, y, true}}};
  if (d.bias) recipe.bindings.push_back({Slot::kBias, DNNL_ARG_BIAS, bias, bias});
  if (d.residual) {
    recipe.bindings.push_back(
        {Slot::kResidual, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, y, y});
  }
  return recipe;
}

}  // namespace frugal::onednn

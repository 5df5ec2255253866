#pragma once

#include "sdk/backend/onednn/operation/operation_key.h"
#include "sdk/backend/onednn/primitive/primitive_descriptors.h"
#include "sdk/backend/onednn/primitive/primitive_operation.h"

// How each description becomes a oneDNN primitive. Sees oneDNN, so it is internal like
// primitive_operation.h.
namespace frugal::onednn {

Desc Describe(const Dims& dims, Tag tag, DType dtype = DType::kF32);
Eltwise EltwiseOf(Activation activation, double parameter);
void AppendActivation(const LinearEpilogue& epilogue, dnnl::post_ops& post_ops);

// y = activation(x weight + bias + residual) as a matmul.
struct MatmulParts {
  Desc x, y;
  Desc weight;  // as it is given, [inputs, outputs]
  Desc inner;   // as the primitive reads it; oneDNN chooses where its tag is `any`
  std::int64_t outputs = 0;
  bool bias = false, residual = false;
};
Recipe MatmulRecipe(const MatmulParts& parts, const LinearEpilogue& epilogue);

// The layout [inputs, outputs] of a weight's packed bf16 copy.
Desc PackedWeight(std::int64_t inputs, std::int64_t outputs);

// Throw dnnl::error where oneDNN has no such primitive.
Recipe MakeRecipe(const LinearDescription& d);
Recipe MakeRecipe(const PackedLinearDescription& d);
Recipe MakeRecipe(const PackDescription& d);
Recipe MakeRecipe(const GemmDescription& d);
Recipe MakeRecipe(const ConvDescription& d);
Recipe MakeWinogradRecipe(const ConvDescription& d);
Recipe MakeRecipe(const PoolDescription& d);
Recipe MakeRecipe(const EltwiseDescription& d);
Recipe MakeRecipe(const SoftmaxDescription& d);

}  // namespace frugal::onednn

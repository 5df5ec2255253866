#include "sdk/backend/onednn/matmul/bf16_products.h"

#include <algorithm>
#include <string>

#include "sdk/backend/onednn/matmul/weight_gradient.h"
#include "sdk/backend/onednn/operation/partial_rows.h"
#include "sdk/backend/onednn/primitive/packed_weight.h"
#include "sdk/core/error.h"

namespace frugal::onednn {
namespace {

PackedLinearDescription Describe(Pass pass, const Tensor& rows, std::int64_t inputs,
                                 std::int64_t outputs) {
  PackedLinearDescription d;
  d.rows = rows.shape().RowCount();
  d.inputs = inputs;
  d.outputs = outputs;
  d.pass = pass;
  return d;
}

PackedLinearDescription DescribeWeightGradient(const Tensor& dy, const Tensor& x,
                                               WeightLayout layout, bool accumulate) {
  PackedLinearDescription d =
      Describe(Pass::kBackwardWeight, dy, x.shape().back(), dy.shape().back());
  d.layout = layout;
  d.accumulate = accumulate;
  return d;
}

PartialRows RowsOf(const Tensor& dy) { return {dy.shape().RowCount(), dy.shape().back()}; }

}  // namespace

// Planned before it is run, so a product that oneDNN cannot do is found while planning.
Operation& Bf16Products::Get(const Description& description) const {
  if (Operation* operation = cache_.Find(description)) return *operation;
  throw UsageError({.where = "product",
                    .required = "oneDNN has a bf16 product for this processor",
                    .given = "it has none",
                    .advice = "train with precision = \"f32\""});
}

std::int64_t Bf16Products::WeightBytes(const LinearWeight& weight) const {
  return weight.tensor.size() > 0 ? PackedWeightBytes(weight.inputs(), weight.outputs()) : 0;
}

void Bf16Products::Pack(const LinearWeight& weight, const Tensor& packed) const {
  if (weight.tensor.size() == 0) return;
  Get(PackDescription{weight.inputs(), weight.outputs(), weight.layout})
      .Run({{Slot::kSource, weight.tensor.raw()}, {Slot::kDestination, packed.raw()}}, nullptr);
}

std::int64_t Bf16Products::FastWidth(const LinearWeight& weight) const {
  constexpr std::int64_t kBlock = 64;
  const std::int64_t whole = (weight.outputs() + kBlock - 1) / kBlock * kBlock;
  const bool pays = weight.outputs() >= 16 * kBlock && WeightGradient::IsAvailable() &&
                    PackedWeightBytes(weight.inputs(), whole) ==
                        PackedWeightBytes(weight.inputs(), weight.outputs());
  return pays ? whole : weight.outputs();
}

// The epilogue is not known here: enough for any.
std::int64_t Bf16Products::ForwardScratch(const Tensor& x, const LinearWeight& weight) const {
  if (x.size() == 0 || weight.tensor.size() == 0) return 0;
  std::int64_t bytes = 0;
  PackedLinearDescription d = Describe(Pass::kForward, x, weight.inputs(), weight.width());
  for (const Activation activation : {Activation::kIdentity, Activation::kRelu}) {
    for (const int flags : {0, 1, 2, 3}) {
      d.epilogue.activation = activation;
      d.bias = (flags & 1) != 0;
      d.residual = (flags & 2) != 0;
      bytes = std::max(bytes, Get(d).ScratchBytes());
    }
  }
  return bytes;
}

void Bf16Products::Forward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                           const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                           void* scratch) const {
  if (x.size() == 0 || weight.tensor.size() == 0) return;
  PackedLinearDescription d = Describe(Pass::kForward, x, weight.inputs(), weight.width());
  d.bias = static_cast<bool>(bias);
  d.residual = static_cast<bool>(residual);
  d.epilogue = epilogue;
  Get(d).Run({{Slot::kSource, x.raw()},
              {Slot::kWeight, weight.packed.raw()},
              {Slot::kBias, bias.raw()},
              {Slot::kResidual, residual.raw()},
              {Slot::kDestination, y.raw()}},
             scratch);
}

std::int64_t Bf16Products::BackwardDataScratch(const Tensor& dy, const LinearWeight& weight) const {
  if (dy.size() == 0 || weight.tensor.size() == 0) return 0;
  return Get(Describe(Pass::kBackwardData, dy, weight.inputs(), weight.width())).ScratchBytes();
}

void Bf16Products::BackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx,
                                void* scratch) const {
  if (dy.size() == 0 || weight.tensor.size() == 0) return;
  Get(Describe(Pass::kBackwardData, dy, weight.inputs(), weight.width()))
      .Run({{Slot::kDestinationGradient, dy.raw()},
            {Slot::kWeight, weight.packed.raw()},
            {Slot::kSourceGradient, dx.raw()}},
           scratch);
}

// For either layout of the weight.
std::int64_t Bf16Products::BackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                                 bool accumulate) const {
  if (dy.size() == 0 || x.size() == 0) return 0;
  if (WeightGradient::IsAvailable()) return WeightGradient(dy, x).ScratchBytes();
  std::int64_t bytes = 0;
  for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
    bytes = std::max(bytes, Get(DescribeWeightGradient(dy, x, layout, accumulate)).ScratchBytes());
  }
  return std::max(bytes, RowsOf(dy).Bytes(1));
}

void Bf16Products::BackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                                  const Tensor& dbias, bool accumulate, void* scratch) const {
  if (dy.size() == 0 || x.size() == 0) {  // sums of nothing
    for (const Tensor& sums : {dweight.tensor, dbias}) {
      if (sums && !accumulate) std::ranges::fill(sums.values<float>(), 0.0f);
    }
    return;
  }
  if (WeightGradient::IsAvailable()) {
    return WeightGradient(dy, x).Run(dweight, dbias, accumulate, scratch);
  }
  if (dweight.tensor) {
    Get(DescribeWeightGradient(dy, x, dweight.layout, accumulate))
        .Run({{Slot::kSource, x.raw()},
              {Slot::kDestinationGradient, dy.raw()},
              {Slot::kWeightGradient, dweight.tensor.raw()}},
             scratch);
  }
  if (!dbias) return;
  const PartialRows parts = RowsOf(dy);
  const std::int64_t columns = parts.columns();
  auto* const sums = static_cast<float*>(scratch);
  parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
    loops_.column_sums(dy.data<BFloat16>() + begin * columns, end - begin, columns,
                       sums + part * columns);
  });
  parts.AddUp(sums, accumulate, dbias.data<float>());
}

}  // namespace frugal::onednn

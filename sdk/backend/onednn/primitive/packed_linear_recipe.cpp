#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {

// The layout that a forward product of many rows asks for, [inputs, outputs]; with few rows oneDNN
// may ask for another, but reads this one.
Desc PackedWeight(std::int64_t inputs, std::int64_t outputs) {
  constexpr std::int64_t kRows = 1024;
  const auto describe = [](const Dims& dims, Tag tag) { return Describe(dims, tag, DType::kBF16); };
  return DescribeMatmul(Processor(), {.source = describe({kRows, inputs}, Tag::ab),
                                      .weight = describe({inputs, outputs}, Tag::any),
                                      .destination = describe({kRows, outputs}, Tag::ab)})
      .weights_desc();
}

namespace {

Recipe DescribePackedForward(const PackedLinearDescription& d, const Desc& x, const Desc& y) {
  const Desc weight = PackedWeight(d.inputs, d.outputs);
  return MatmulRecipe({x, y, weight, weight, d.outputs, d.bias, d.residual}, d.epilogue);
}

Recipe DescribePackedBackwardData(const PackedLinearDescription& d, const Desc& x, const Desc& y) {
  const Desc any = Describe({d.outputs, d.inputs}, Tag::any, DType::kBF16);
  const auto engine = Processor();
  const ProductTensors tensors{.source = x, .weight = any, .destination = y};
  const auto descriptor =
      DescribeInnerProductBackwardData(engine, tensors, DescribeInnerProduct(engine, tensors));
  return {engine,
          descriptor,
          {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, y, y},
           {Slot::kWeight, DNNL_ARG_WEIGHTS, PackedWeight(d.inputs, d.outputs).permute_axes({1, 0}),
            descriptor.weights_desc()},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

// inner_product's gradient writes plain f32 directly, faster than a matmul of the transposed
// does; but only that can add to what is there.
Recipe DescribePackedBackwardWeight(const PackedLinearDescription& d, const Desc& x,
                                    const Desc& y) {
  const auto engine = Processor();
  const bool out_in = d.layout == WeightLayout::kOutIn;
  if (!d.accumulate) {
    const Desc any = Describe({d.outputs, d.inputs}, Tag::any, DType::kBF16);
    const Desc dweight = Describe({d.outputs, d.inputs}, out_in ? Tag::ab : Tag::ba);
    const auto descriptor = DescribeInnerProductBackwardWeight(
        engine, {.source = x, .weight = dweight, .destination = y},
        DescribeInnerProduct(engine, {.source = x, .weight = any, .destination = y}));
    return {engine,
            descriptor,
            {{Slot::kSource, DNNL_ARG_SRC, x, x},
             {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, y, y},
             {Slot::kWeightGradient, DNNL_ARG_DIFF_WEIGHTS, dweight, dweight, true}}};
  }
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  const Desc left = (out_in ? y : x).permute_axes({1, 0});
  const Desc& right = out_in ? x : y;
  const Desc dweight =
      Describe(out_in ? Dims{d.outputs, d.inputs} : Dims{d.inputs, d.outputs}, Tag::ab);
  const auto descriptor =
      DescribeMatmul(engine, {.source = left, .weight = right, .destination = dweight}, sum);
  return {engine,
          descriptor,
          {{out_in ? Slot::kDestinationGradient : Slot::kSource, DNNL_ARG_SRC, left, left},
           {out_in ? Slot::kSource : Slot::kDestinationGradient, DNNL_ARG_WEIGHTS, right, right},
           {Slot::kWeightGradient, DNNL_ARG_DST, dweight, dweight, true}}};
}

}  // namespace

Recipe MakeRecipe(const PackDescription& d) {
  const Desc plain =
      Describe({d.inputs, d.outputs}, d.layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab);
  const Desc packed = PackedWeight(d.inputs, d.outputs);
  const auto engine = Processor();
  const dnnl::reorder::primitive_desc copy(engine, plain, engine, packed, Attributes());
  return {engine,
          copy,
          {{Slot::kSource, DNNL_ARG_FROM, plain, plain},
           {Slot::kDestination, DNNL_ARG_TO, packed, packed, true}}};
}

Recipe MakeRecipe(const PackedLinearDescription& d) {
  const Desc x = Describe({d.rows, d.inputs}, Tag::ab, DType::kBF16);
  const Desc y = Describe({d.rows, d.outputs}, Tag::ab, DType::kBF16);
  switch (d.pass) {
    case Pass::kBackwardData:
      return DescribePackedBackwardData(d, x, y);
    case Pass::kBackwardWeight:
      return DescribePackedBackwardWeight(d, x, y);
    default:
      return DescribePackedForward(d, x, y);
  }
}

}  // namespace frugal::onednn

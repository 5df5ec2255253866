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

Recipe MakePackedForwardRecipe(const PackedLinearDescription& d, const Desc& x, const Desc& y) {
  const Desc weight = PackedWeight(d.inputs, d.outputs);
  return MatmulRecipe({x, y, weight, weight, d.outputs, d.bias, d.residual}, d.epilogue);
}

Recipe MakePackedBackwardDataRecipe(const PackedLinearDescription& d, const Desc& x,
                                    const Desc& y) {
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

// A factor of a product, and the slot that it is given in.
struct ProductFactor {
  Slot slot;
  Desc tensor;
};

// c = left right, or c += left right
Recipe MakeProductRecipe(const ProductFactor& left, const ProductFactor& right,
                         const ProductFactor& c, bool accumulate) {
  dnnl::post_ops post_ops;
  if (accumulate) post_ops.append_sum(1.0f);
  const auto engine = Processor();
  const auto descriptor = DescribeMatmul(
      engine, {.source = left.tensor, .weight = right.tensor, .destination = c.tensor}, post_ops);
  return {engine,
          descriptor,
          {{left.slot, DNNL_ARG_SRC, left.tensor, left.tensor},
           {right.slot, DNNL_ARG_WEIGHTS, right.tensor, right.tensor},
           {c.slot, DNNL_ARG_DST, c.tensor, c.tensor, true}}};
}

// inner_product's gradient writes plain f32 directly, faster than a matmul of the transposed
// does; but only that can add to what is there.
Recipe MakePackedBackwardWeightRecipe(const PackedLinearDescription& d, const Desc& x,
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
  const ProductFactor inputs{Slot::kSource, x}, gradients{Slot::kDestinationGradient, y};
  ProductFactor left = out_in ? gradients : inputs;
  left.tensor = left.tensor.permute_axes({1, 0});
  const Desc dweight =
      Describe(out_in ? Dims{d.outputs, d.inputs} : Dims{d.inputs, d.outputs}, Tag::ab);
  return MakeProductRecipe(left, out_in ? inputs : gradients, {Slot::kWeightGradient, dweight},
                           true);
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
      return MakePackedBackwardDataRecipe(d, x, y);
    case Pass::kBackwardWeight:
      return MakePackedBackwardWeightRecipe(d, x, y);
    default:
      return MakePackedForwardRecipe(d, x, y);
  }
}

Recipe MakeRecipe(const GemmDescription& d) {
  const auto order = [](char transpose) { return transpose == 'T' ? Tag::ba : Tag::ab; };
  return MakeProductRecipe({Slot::kSource, Describe({d.m, d.k}, order(d.transpose_a))},
                           {Slot::kWeight, Describe({d.k, d.n}, order(d.transpose_b))},
                           {Slot::kDestination, Describe({d.m, d.n}, Tag::ab)}, d.accumulate);
}

Recipe MakeRecipe(const EltwiseDescription& d) {
  const Desc x = Describe({d.size}, Tag::a, d.dtype);
  const Eltwise function = EltwiseOf(d.kind, d.parameter);
  const auto engine = Processor();
  const auto forward = DescribeEltwise(engine, function, x);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  return {engine,
          DescribeEltwiseBackward(engine, function, x, forward),
          {{Slot::kSource, DNNL_ARG_SRC, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

Recipe MakeRecipe(const SoftmaxDescription& d) {
  constexpr int kColumns = 1;  // the axis
  const Desc x = Describe({d.rows, d.columns}, Tag::ab, d.dtype);
  const auto engine = Processor();
  if (!d.backward) {
    return {engine,
            DescribeSoftmax(engine, x, kColumns, d.logarithm),
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  return {engine,
          DescribeSoftmaxBackward(engine, x, kColumns, d.logarithm),
          {{Slot::kDestination, DNNL_ARG_DST, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

}  // namespace frugal::onednn

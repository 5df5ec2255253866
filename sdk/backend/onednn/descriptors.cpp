#include "sdk/backend/onednn/descriptors.h"

#include <string_view>
#include <utility>

#include "sdk/backend/onednn/primitive_operation.h"

namespace frugal::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

Desc Describe(const Dims& dims, Tag tag) { return Desc(dims, dnnl::memory::data_type::f32, tag); }

dnnl::engine Processor() { return dnnl::engine(dnnl::engine::kind::cpu, 0); }

// --- attributes

// A function of oneDNN with its first parameter.
struct Eltwise {
  algorithm kind;
  float alpha;
};

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
      return {algorithm::eltwise_soft_relu, 0};
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
  const Eltwise function = EltwiseOf(epilogue.activation, epilogue.parameter);
  post_ops.append_eltwise(1.0f, function.kind, function.alpha, 0.0f);
}

dnnl::primitive_attr Attributes(const dnnl::post_ops& post_ops = {}) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return attributes;
}

// --- product

Recipe DescribeLinear(const LinearDescription& d) {
  const Desc x = Describe({d.rows, d.inputs}, Tag::ab);
  const Desc y = Describe({d.rows, d.outputs}, Tag::ab);
  const Desc bias = Describe({1, d.outputs}, Tag::ab);
  const Desc weight =
      Describe({d.inputs, d.outputs}, d.layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab);
  const Desc inner = d.packed ? Describe({d.inputs, d.outputs}, Tag::any) : weight;
  dnnl::post_ops post_ops;
  if (d.residual) post_ops.append_binary(algorithm::binary_add, y);
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

// --- convolution and pooling

// Signals and images are taken as images, the rest as volumes.
bool IsVolume(const WindowGeometry& g) {
  return g.input[0] != 1 || g.output[0] != 1 || g.kernel[0] != 1 || g.padding_begin[0] != 0 ||
         g.padding_end[0] != 0;
}

Dims SpatialDims(const Spatial& numbers, bool volume, std::int64_t minus = 0) {
  Dims dims;
  for (std::size_t i = volume ? 0 : 1; i < numbers.size(); ++i) dims.push_back(numbers[i] - minus);
  return dims;
}

Dims Join(Dims head, const Dims& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

Desc DescribeImage(std::int64_t batch, std::int64_t channels, const Spatial& extents, bool volume) {
  return Describe(Join({batch, channels}, SpatialDims(extents, volume)),
                  volume ? Tag::ndhwc : Tag::nhwc);
}

struct WindowDims {
  Dims kernel, stride, dilation, begin, end;
  explicit WindowDims(const WindowGeometry& g)
      : kernel(SpatialDims(g.kernel, IsVolume(g))),
        stride(SpatialDims(g.stride, IsVolume(g))),
        dilation(SpatialDims(g.dilation, IsVolume(g), 1)),  // oneDNN counts the gaps
        begin(SpatialDims(g.padding_begin, IsVolume(g))),
        end(SpatialDims(g.padding_end, IsVolume(g))) {}
};

Dims ConvWeightDims(const ConvGeometry& g) {
  const Dims kernel = SpatialDims(g.window.kernel, IsVolume(g.window));
  const std::int64_t inputs = g.input_channels / g.groups;
  if (g.groups == 1) return Join({g.output_channels, inputs}, kernel);
  return Join({g.groups, g.output_channels / g.groups, inputs}, kernel);
}

struct ConvTensors {
  Desc x, y, bias, weight, any_weight;
  WindowDims window;
  explicit ConvTensors(const ConvGeometry& g) : window(g.window) {
    const bool volume = IsVolume(g.window);
    x = DescribeImage(g.window.batch, g.input_channels, g.window.input, volume);
    y = DescribeImage(g.window.batch, g.output_channels, g.window.output, volume);
    bias = Describe({g.output_channels}, Tag::a);
    const Dims dims = ConvWeightDims(g);
    const Tag plain = volume ? (g.groups == 1 ? Tag::oidhw : Tag::goidhw)
                             : (g.groups == 1 ? Tag::oihw : Tag::goihw);
    weight = Describe(dims, plain);
    any_weight = Describe(dims, Tag::any);
  }
};

dnnl::convolution_forward::primitive_desc ConvForward(const ConvDescription& d,
                                                      const ConvTensors& t,
                                                      const dnnl::engine& engine) {
  using Forward = dnnl::convolution_forward;
  dnnl::post_ops post_ops;
  AppendActivation(d.epilogue, post_ops);
  const auto& w = t.window;
  const auto kind = prop_kind::forward_training;
  const auto direct = algorithm::convolution_direct;
  const auto op = d.bias ? Forward::desc(kind, direct, t.x, t.any_weight, t.bias, t.y, w.stride,
                                         w.dilation, w.begin, w.end)
                         : Forward::desc(kind, direct, t.x, t.any_weight, t.y, w.stride, w.dilation,
                                         w.begin, w.end);
  return Forward::primitive_desc(op, Attributes(post_ops), engine);
}

Recipe DescribeConvForward(const ConvDescription& d, const ConvTensors& t) {
  const auto engine = Processor();
  const auto descriptor = ConvForward(d, t, engine);
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, t.x, t.x},
                 {Slot::kWeight, DNNL_ARG_WEIGHTS, t.weight, descriptor.weights_desc()},
                 {Slot::kDestination, DNNL_ARG_DST, t.y, t.y, true}}};
  if (d.bias) recipe.bindings.push_back({Slot::kBias, DNNL_ARG_BIAS, t.bias, t.bias});
  return recipe;
}

Recipe DescribeConvBackwardData(const ConvDescription& d, const ConvTensors& t) {
  using Backward = dnnl::convolution_backward_data;
  const auto engine = Processor();
  const auto& w = t.window;
  const Backward::desc op(algorithm::convolution_direct, t.x, t.any_weight, t.y, w.stride,
                          w.dilation, w.begin, w.end);
  const Backward::primitive_desc descriptor(op, Attributes(), engine, ConvForward(d, t, engine));
  return {engine,
          descriptor,
          {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, t.y, t.y},
           {Slot::kWeight, DNNL_ARG_WEIGHTS, t.weight, descriptor.weights_desc()},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, t.x, t.x, true}}};
}

Recipe DescribeConvBackwardWeight(const ConvDescription& d, const ConvTensors& t) {
  using Backward = dnnl::convolution_backward_weights;
  const auto engine = Processor();
  const auto& w = t.window;
  const auto direct = algorithm::convolution_direct;
  const auto op =
      d.bias ? Backward::desc(direct, t.x, t.any_weight, t.bias, t.y, w.stride, w.dilation, w.begin,
                              w.end)
             : Backward::desc(direct, t.x, t.any_weight, t.y, w.stride, w.dilation, w.begin, w.end);
  const Backward::primitive_desc descriptor(op, Attributes(), engine, ConvForward(d, t, engine));
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, t.x, t.x},
                 {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, t.y, t.y},
                 {Slot::kWeightGradient, DNNL_ARG_DIFF_WEIGHTS, t.weight,
                  descriptor.diff_weights_desc(), true, d.accumulate}}};
  if (d.bias) {
    recipe.bindings.push_back(
        {Slot::kBiasGradient, DNNL_ARG_DIFF_BIAS, t.bias, t.bias, true, d.accumulate});
  }
  return recipe;
}

Recipe DescribeConv(const ConvDescription& d) {
  const ConvTensors tensors(d.geometry);
  switch (d.pass) {
    case ConvPass::kBackwardData:
      return DescribeConvBackwardData(d, tensors);
    case ConvPass::kBackwardWeight:
      return DescribeConvBackwardWeight(d, tensors);
    default:
      return DescribeConvForward(d, tensors);
  }
}

Recipe DescribePool(const PoolDescription& d) {
  const WindowGeometry& g = d.geometry.window;
  const bool volume = IsVolume(g);
  const WindowDims w(g);
  const Desc x = DescribeImage(g.batch, d.geometry.channels, g.input, volume);
  const Desc y = DescribeImage(g.batch, d.geometry.channels, g.output, volume);
  const auto kind = d.geometry.count_padding ? algorithm::pooling_avg_include_padding
                                             : algorithm::pooling_avg_exclude_padding;
  const auto engine = Processor();
  const dnnl::pooling_forward::primitive_desc forward(
      {prop_kind::forward_training, kind, x, y, w.stride, w.kernel, w.begin, w.end}, Attributes(),
      engine);
  Recipe recipe{engine, forward, {}};
  if (d.backward) {
    recipe.descriptor = dnnl::pooling_backward::primitive_desc(
        {kind, x, y, w.stride, w.kernel, w.begin, w.end}, Attributes(), engine, forward);
    recipe.bindings = {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, y, y},
                       {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}};
  } else {
    recipe.bindings = {{Slot::kSource, DNNL_ARG_SRC, x, x},
                       {Slot::kDestination, DNNL_ARG_DST, y, y, true}};
  }
  return recipe;
}

// --- elementwise and softmax

Recipe DescribeEltwise(const EltwiseDescription& d) {
  const Desc x = Describe({d.size}, Tag::a);
  const Eltwise function = EltwiseOf(d.kind, d.parameter);
  const auto engine = Processor();
  const dnnl::eltwise_forward::primitive_desc forward(
      {prop_kind::forward_training, function.kind, x, function.alpha}, Attributes(), engine);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  const dnnl::eltwise_backward::primitive_desc backward({function.kind, x, x, function.alpha},
                                                        Attributes(), engine, forward);
  return {engine,
          backward,
          {{Slot::kSource, DNNL_ARG_SRC, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

template <class Forward, class Backward>
Recipe DescribeSoftmaxAs(const SoftmaxDescription& d) {
  const Desc x = Describe({d.rows, d.columns}, Tag::ab);
  const auto engine = Processor();
  const typename Forward::primitive_desc forward({prop_kind::forward_training, x, 1}, Attributes(),
                                                 engine);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  const typename Backward::primitive_desc backward({x, x, 1}, Attributes(), engine, forward);
  return {engine,
          backward,
          {{Slot::kDestination, DNNL_ARG_DST, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

Recipe DescribeSoftmax(const SoftmaxDescription& d) {
  return d.logarithm ? DescribeSoftmaxAs<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(d)
                     : DescribeSoftmaxAs<dnnl::softmax_forward, dnnl::softmax_backward>(d);
}

Recipe MakeRecipe(const LinearDescription& d) { return DescribeLinear(d); }
Recipe MakeRecipe(const ConvDescription& d) { return DescribeConv(d); }
Recipe MakeRecipe(const PoolDescription& d) { return DescribePool(d); }
Recipe MakeRecipe(const EltwiseDescription& d) { return DescribeEltwise(d); }
Recipe MakeRecipe(const SoftmaxDescription& d) { return DescribeSoftmax(d); }

bool IsReferenceLoop(const Recipe& recipe) {
  const std::string_view name = recipe.descriptor.impl_info_str();
  return name.substr(0, 3) == "ref" || name.find(":ref") != std::string_view::npos;
}

}  // namespace

std::unique_ptr<Operation> Describe(const Description& description) {
  try {
    Recipe recipe = std::visit([](const auto& d) { return MakeRecipe(d); }, description);
    if (IsReferenceLoop(recipe)) return nullptr;
    return MakeOperation(std::move(recipe));
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return nullptr;
  }
}

void LimitPrimitiveCache(int capacity) { dnnl::set_primitive_cache_capacity(capacity); }

}  // namespace frugal::onednn

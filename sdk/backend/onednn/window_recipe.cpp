#include <string_view>

#include "sdk/backend/onednn/recipes.h"

namespace frugal::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

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

Desc DescribeImage(std::int64_t batch, std::int64_t channels, const Spatial& extents, bool volume,
                   DType dtype = DType::kF32) {
  return Describe(Join({batch, channels}, SpatialDims(extents, volume)),
                  volume ? Tag::ndhwc : Tag::nhwc, dtype);
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
  algorithm kind;
  Desc x, y, bias, weight;
  Desc any_x, any_y, any_weight;  // as the primitive reads them: activations as they are if direct
  WindowDims window;
  ConvTensors(const ConvGeometry& g, DType dtype, algorithm chosen)
      : kind(chosen), window(g.window) {
    const bool volume = IsVolume(g.window);
    x = DescribeImage(g.window.batch, g.input_channels, g.window.input, volume, dtype);
    y = DescribeImage(g.window.batch, g.output_channels, g.window.output, volume, dtype);
    bias = Describe({g.output_channels}, Tag::a);
    const Dims dims = ConvWeightDims(g);
    const Tag plain = volume ? (g.groups == 1 ? Tag::oidhw : Tag::goidhw)
                             : (g.groups == 1 ? Tag::oihw : Tag::goihw);
    weight = Describe(dims, plain);
    any_weight = Describe(dims, Tag::any, dtype);
    const bool direct = chosen == algorithm::convolution_direct;
    any_x = direct ? x : Describe(x.dims(), Tag::any, dtype);
    any_y = direct ? y : Describe(y.dims(), Tag::any, dtype);
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
  const auto op = d.bias ? Forward::desc(kind, t.kind, t.any_x, t.any_weight, t.bias, t.any_y,
                                         w.stride, w.dilation, w.begin, w.end)
                         : Forward::desc(kind, t.kind, t.any_x, t.any_weight, t.any_y, w.stride,
                                         w.dilation, w.begin, w.end);
  return Forward::primitive_desc(op, Attributes(post_ops), engine);
}

Recipe DescribeConvForward(const ConvDescription& d, const ConvTensors& t) {
  const auto engine = Processor();
  const auto descriptor = ConvForward(d, t, engine);
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, t.x, descriptor.src_desc()},
                 {Slot::kWeight, DNNL_ARG_WEIGHTS, t.weight, descriptor.weights_desc()},
                 {Slot::kDestination, DNNL_ARG_DST, t.y, descriptor.dst_desc(), true}}};
  if (d.bias) recipe.bindings.push_back({Slot::kBias, DNNL_ARG_BIAS, t.bias, t.bias});
  return recipe;
}

Recipe DescribeConvBackwardData(const ConvDescription& d, const ConvTensors& t) {
  using Backward = dnnl::convolution_backward_data;
  const auto engine = Processor();
  const auto& w = t.window;
  const Backward::desc op(t.kind, t.any_x, t.any_weight, t.any_y, w.stride, w.dilation, w.begin,
                          w.end);
  const Backward::primitive_desc descriptor(op, Attributes(), engine, ConvForward(d, t, engine));
  return {engine,
          descriptor,
          {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, t.y, descriptor.diff_dst_desc()},
           {Slot::kWeight, DNNL_ARG_WEIGHTS, t.weight, descriptor.weights_desc()},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, t.x, descriptor.diff_src_desc(), true}}};
}

// In oneDNN 2.6 the threads of one implementation race where a window of one place has steps, so
// that sums differ from run to run (tests/backend/conv_repeats_test.cpp): the next best is taken.
void AvoidRace(const WindowGeometry& w, dnnl::convolution_backward_weights::primitive_desc& d) {
  const bool has_steps = w.stride != Spatial{1, 1, 1};
  while (has_steps && std::string_view(d.impl_info_str()) == "jit_1x1:avx2") {
    if (!d.next_impl()) throw dnnl::error(dnnl_unimplemented, "only an implementation that races");
  }
}

Recipe DescribeConvBackwardWeight(const ConvDescription& d, const ConvTensors& t) {
  using Backward = dnnl::convolution_backward_weights;
  const auto engine = Processor();
  const auto& w = t.window;
  const auto op = d.bias ? Backward::desc(t.kind, t.any_x, t.any_weight, t.bias, t.any_y, w.stride,
                                          w.dilation, w.begin, w.end)
                         : Backward::desc(t.kind, t.any_x, t.any_weight, t.any_y, w.stride,
                                          w.dilation, w.begin, w.end);
  const auto forward = ConvForward(d, t, engine);  // lives while implementations are looked through
  Backward::primitive_desc descriptor(op, Attributes(), engine, forward);
  AvoidRace(d.geometry.window, descriptor);
  Recipe recipe{engine,
                descriptor,
                {{Slot::kSource, DNNL_ARG_SRC, t.x, descriptor.src_desc()},
                 {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, t.y, descriptor.diff_dst_desc()},
                 {Slot::kWeightGradient, DNNL_ARG_DIFF_WEIGHTS, t.weight,
                  descriptor.diff_weights_desc(), true, d.accumulate}}};
  if (d.bias) {
    recipe.bindings.push_back(
        {Slot::kBiasGradient, DNNL_ARG_DIFF_BIAS, t.bias, t.bias, true, d.accumulate});
  }
  return recipe;
}

Recipe DescribeConv(const ConvDescription& d, algorithm kind) {
  const ConvTensors tensors(d.geometry, d.dtype, kind);
  switch (d.pass) {
    case Pass::kBackwardData:
      return DescribeConvBackwardData(d, tensors);
    case Pass::kBackwardWeight:
      return DescribeConvBackwardWeight(d, tensors);
    default:
      return DescribeConvForward(d, tensors);
  }
}

}  // namespace

Recipe MakeRecipe(const ConvDescription& d) {
  return DescribeConv(d, algorithm::convolution_direct);
}

Recipe MakeWinogradRecipe(const ConvDescription& d) {
  return DescribeConv(d, algorithm::convolution_winograd);
}

Recipe MakeRecipe(const PoolDescription& d) {
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

}  // namespace frugal::onednn

#include <string_view>

#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {
namespace {

using dnnl::algorithm;

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

Dims ImageDims(std::int64_t batch, std::int64_t channels, const Spatial& extents, bool volume) {
  return Join({batch, channels}, SpatialDims(extents, volume));
}

Desc DescribeImage(const Dims& dims, bool volume, DType dtype = DType::kF32) {
  return Describe(dims, volume ? Tag::ndhwc : Tag::nhwc, dtype);
}

WindowDims WindowDimsOf(const WindowGeometry& g) {
  const bool volume = IsVolume(g);
  return {.kernel = SpatialDims(g.kernel, volume),
          .stride = SpatialDims(g.stride, volume),
          .dilation = SpatialDims(g.dilation, volume, 1),
          .begin = SpatialDims(g.padding_begin, volume),
          .end = SpatialDims(g.padding_end, volume)};
}

Dims ConvWeightDims(const ConvGeometry& g) {
  const Dims kernel = SpatialDims(g.window.kernel, IsVolume(g.window));
  const std::int64_t inputs = g.input_channels / g.groups;
  if (g.groups == 1) return Join({g.output_channels, inputs}, kernel);
  return Join({g.groups, g.output_channels / g.groups, inputs}, kernel);
}

struct ConvTensors {
  algorithm kind;
  Desc x, y, bias, weight;
  ProductTensors inner;  // as the primitive reads them: activations as they are if it is direct
  WindowDims window;
  ConvTensors(const ConvDescription& d, algorithm chosen)
      : kind(chosen), window(WindowDimsOf(d.geometry.window)) {
    const ConvGeometry& g = d.geometry;
    const WindowGeometry& w = g.window;
    const bool volume = IsVolume(w), direct = chosen == algorithm::convolution_direct;
    const Dims inputs = ImageDims(w.batch, g.input_channels, w.input, volume);
    const Dims outputs = ImageDims(w.batch, g.output_channels, w.output, volume);
    x = DescribeImage(inputs, volume, d.dtype);
    y = DescribeImage(outputs, volume, d.dtype);
    bias = Describe({g.output_channels}, Tag::a);
    const Dims dims = ConvWeightDims(g);
    const Tag plain = volume ? (g.groups == 1 ? Tag::oidhw : Tag::goidhw)
                             : (g.groups == 1 ? Tag::oihw : Tag::goihw);
    weight = Describe(dims, plain);
    inner = {.source = direct ? x : Describe(inputs, Tag::any, d.dtype),
             .weight = Describe(dims, Tag::any, d.dtype),
             .destination = direct ? y : Describe(outputs, Tag::any, d.dtype),
             .bias = d.bias ? bias : Desc()};
  }
};

dnnl::convolution_forward::primitive_desc ConvForward(const ConvDescription& d,
                                                      const ConvTensors& t,
                                                      const dnnl::engine& engine) {
  dnnl::post_ops post_ops;
  AppendActivation(d.epilogue, post_ops);
  return DescribeConvolution(engine, t.kind, t.inner, t.window, post_ops);
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

// oneDNN 3 takes brgconv_strided for gradients of inputs where windows have steps, and it is the
// slower the smaller the window (1 x 1 in bf16: half as fast as the kernel that version 2 takes and
// this one still has; 5 x 5: 0.92 times), with more scratch: that kernel is taken here too.
bool IsSlow(std::string_view implementation) {
  return implementation == "brgconv_strided:avx512_core" ||
         implementation == "brgconv_strided:avx512_core_bf16";
}

dnnl::convolution_backward_data::primitive_desc FastestBackwardData(
    const ConvTensors& t, const dnnl::engine& engine,
    const dnnl::convolution_forward::primitive_desc& forward) {
  const auto describe = [&] {
    return DescribeConvolutionBackwardData(engine, t.kind, t.inner, t.window, forward);
  };
  auto first = describe();
  if (!IsSlow(first.impl_info_str())) return first;
  for (auto next = describe(); next.next_impl();) {
    if (std::string_view(next.impl_info_str()).starts_with("jit")) return next;
  }
  return first;
}

Recipe DescribeConvBackwardData(const ConvDescription& d, const ConvTensors& t) {
  const auto engine = Processor();
  const auto forward = ConvForward(d, t, engine);
  const auto descriptor = FastestBackwardData(t, engine, forward);
  return {engine,
          descriptor,
          {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, t.y, descriptor.diff_dst_desc()},
           {Slot::kWeight, DNNL_ARG_WEIGHTS, t.weight, descriptor.weights_desc()},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, t.x, descriptor.diff_src_desc(), true}}};
}

// In oneDNN 2.6 the threads of one implementation race where a window of one place has steps, so
// that sums differ from run to run (tests/backend/conv_repeats_test.cpp): the next best is taken.
bool Races(const WindowGeometry& w, std::string_view implementation) {
  return w.stride != Spatial{1, 1, 1} && implementation == "jit_1x1:avx2";
}

Recipe DescribeConvBackwardWeight(const ConvDescription& d, const ConvTensors& t) {
  const auto engine = Processor();
  const auto forward = ConvForward(d, t, engine);
  const auto descriptor = DescribeConvolutionBackwardWeight(
      engine, t.kind, t.inner, t.window, forward,
      [&](std::string_view name) { return !Races(d.geometry.window, name); });
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
  const ConvTensors tensors(d, kind);
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
  const WindowDims w = WindowDimsOf(g);
  const Desc x = DescribeImage(ImageDims(g.batch, d.geometry.channels, g.input, volume), volume);
  const Desc y = DescribeImage(ImageDims(g.batch, d.geometry.channels, g.output, volume), volume);
  const auto kind = d.geometry.count_padding ? algorithm::pooling_avg_include_padding
                                             : algorithm::pooling_avg_exclude_padding;
  const auto engine = Processor();
  const auto forward = DescribePooling(engine, kind, x, y, w);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, y, y, true}}};
  }
  return {engine,
          DescribePoolingBackward(engine, kind, x, y, w, forward),
          {{Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, y, y},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

}  // namespace frugal::onednn

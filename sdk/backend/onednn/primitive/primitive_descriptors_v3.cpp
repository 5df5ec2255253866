// oneDNN 3: a primitive's descriptor is made at once, of an engine, its tensors and attributes.
#include "sdk/backend/onednn/primitive/primitive_descriptors.h"

namespace frugal::onednn {

using dnnl::algorithm;
using dnnl::prop_kind;

const bool kHasWinogradOneDnn = false;

void AppendEltwise(const Eltwise& function, dnnl::post_ops& post_ops) {
  post_ops.append_eltwise(function.kind, function.alpha, 0.0f);
}

dnnl::matmul::primitive_desc DescribeMatmul(const dnnl::engine& engine, const ProductTensors& t,
                                            const dnnl::post_ops& post_ops) {
  return {engine, t.source, t.weight, t.bias, t.destination, Attributes(post_ops)};
}

dnnl::inner_product_forward::primitive_desc DescribeInnerProduct(const dnnl::engine& engine,
                                                                 const ProductTensors& t) {
  return {engine, prop_kind::forward_training, t.source, t.weight, t.destination, Attributes()};
}

dnnl::inner_product_backward_data::primitive_desc DescribeInnerProductBackwardData(
    const dnnl::engine& engine, const ProductTensors& t,
    const dnnl::inner_product_forward::primitive_desc& forward) {
  return {engine, t.source, t.weight, t.destination, forward, Attributes()};
}

dnnl::inner_product_backward_weights::primitive_desc DescribeInnerProductBackwardWeight(
    const dnnl::engine& engine, const ProductTensors& t,
    const dnnl::inner_product_forward::primitive_desc& forward) {
  return {engine, t.source, t.weight, t.destination, forward, Attributes()};
}

dnnl::convolution_forward::primitive_desc DescribeConvolution(const dnnl::engine& engine,
                                                              algorithm kind,
                                                              const ProductTensors& t,
                                                              const WindowDims& w,
                                                              const dnnl::post_ops& post_ops) {
  return {engine,        prop_kind::forward_training,
          kind,          t.source,
          t.weight,      t.bias,
          t.destination, w.stride,
          w.dilation,    w.begin,
          w.end,         Attributes(post_ops)};
}

dnnl::convolution_backward_data::primitive_desc DescribeConvolutionBackwardData(
    const dnnl::engine& engine, algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward) {
  return {engine,     kind,    t.source, t.weight, t.destination, w.stride,
          w.dilation, w.begin, w.end,    forward,  Attributes()};
}

dnnl::convolution_backward_weights::primitive_desc DescribeConvolutionBackwardWeight(
    const dnnl::engine& engine, algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward,
    const std::function<bool(std::string_view)>& is_wanted) {
  dnnl::convolution_backward_weights::primitive_desc descriptor(
      engine, kind, t.source, t.weight, t.bias, t.destination, w.stride, w.dilation, w.begin, w.end,
      forward, Attributes());
  while (!is_wanted(descriptor.impl_info_str())) {
    if (!descriptor.next_impl()) throw dnnl::error(dnnl_unimplemented, "none that is wanted");
  }
  return descriptor;
}

dnnl::pooling_forward::primitive_desc DescribePooling(const dnnl::engine& engine, algorithm kind,
                                                      const Desc& source, const Desc& destination,
                                                      const WindowDims& w) {
  return {engine,      prop_kind::forward_training,
          kind,        source,
          destination, w.stride,
          w.kernel,    w.dilation,
          w.begin,     w.end,
          Attributes()};
}

dnnl::pooling_backward::primitive_desc DescribePoolingBackward(
    const dnnl::engine& engine, algorithm kind, const Desc& source, const Desc& destination,
    const WindowDims& w, const dnnl::pooling_forward::primitive_desc& forward) {
  return {engine,     kind,    source, destination, w.stride,    w.kernel,
          w.dilation, w.begin, w.end,  forward,     Attributes()};
}

dnnl::eltwise_forward::primitive_desc DescribeEltwise(const dnnl::engine& engine,
                                                      const Eltwise& function, const Desc& data) {
  return {engine,      prop_kind::forward_training, function.kind, data, data, function.alpha,
          Attributes()};
}

dnnl::eltwise_backward::primitive_desc DescribeEltwiseBackward(
    const dnnl::engine& engine, const Eltwise& function, const Desc& data,
    const dnnl::eltwise_forward::primitive_desc& forward) {
  return {engine, function.kind, data, data, data, function.alpha, forward, Attributes()};
}

namespace {

algorithm SoftmaxKind(bool logarithm) {
  return logarithm ? algorithm::softmax_log : algorithm::softmax_accurate;
}

dnnl::softmax_forward::primitive_desc DescribeSoftmaxForward(const dnnl::engine& engine,
                                                             const Desc& data, int axis,
                                                             bool logarithm) {
  return {engine,      prop_kind::forward_training, SoftmaxKind(logarithm), data, data, axis,
          Attributes()};
}

}  // namespace

dnnl::primitive_desc DescribeSoftmax(const dnnl::engine& engine, const Desc& data, int axis,
                                     bool logarithm) {
  return DescribeSoftmaxForward(engine, data, axis, logarithm);
}

dnnl::primitive_desc DescribeSoftmaxBackward(const dnnl::engine& engine, const Desc& data, int axis,
                                             bool logarithm) {
  return dnnl::softmax_backward::primitive_desc(
      engine, SoftmaxKind(logarithm), data, data, data, axis,
      DescribeSoftmaxForward(engine, data, axis, logarithm), Attributes());
}

}  // namespace frugal::onednn

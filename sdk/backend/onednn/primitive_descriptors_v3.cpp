// oneDNN 3: a primitive's descriptor is made at once, of an engine, its tensors and attributes.
#include "sdk/backend/onednn/primitive_descriptors.h"

namespace frugal::onednn {

using dnnl::algorithm;
using dnnl::prop_kind;

const bool kHasWinograd = false;

void AppendEltwise(const Eltwise& function, dnnl::post_ops& post_ops) {
  post_ops.append_eltwise(function.kind, function.alpha, 0.0f);
}

dnnl::matmul::primitive_desc DescribeMatmul(const ProductTensors& t,
                                            const dnnl::post_ops& post_ops) {
  return {Processor(), t.source, t.weight, t.bias, t.destination, Attributes(post_ops)};
}

dnnl::inner_product_forward::primitive_desc DescribeInnerProduct(const ProductTensors& t) {
  return {Processor(), prop_kind::forward_training, t.source, t.weight, t.destination,
          Attributes()};
}

dnnl::inner_product_backward_data::primitive_desc DescribeInnerProductBackwardData(
    const ProductTensors& t, const dnnl::inner_product_forward::primitive_desc& forward) {
  return {Processor(), t.source, t.weight, t.destination, forward, Attributes()};
}

dnnl::inner_product_backward_weights::primitive_desc DescribeInnerProductBackwardWeight(
    const ProductTensors& t, const dnnl::inner_product_forward::primitive_desc& forward) {
  return {Processor(), t.source, t.weight, t.destination, forward, Attributes()};
}

dnnl::convolution_forward::primitive_desc DescribeConvolution(algorithm kind,
                                                              const ProductTensors& t,
                                                              const WindowDims& w,
                                                              const dnnl::post_ops& post_ops) {
  return {Processor(),   prop_kind::forward_training,
          kind,          t.source,
          t.weight,      t.bias,
          t.destination, w.stride,
          w.dilation,    w.begin,
          w.end,         Attributes(post_ops)};
}

dnnl::convolution_backward_data::primitive_desc DescribeConvolutionBackwardData(
    algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward) {
  return {Processor(), kind,    t.source, t.weight, t.destination, w.stride,
          w.dilation,  w.begin, w.end,    forward,  Attributes()};
}

dnnl::convolution_backward_weights::primitive_desc DescribeConvolutionBackwardWeight(
    algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward) {
  return {Processor(), kind,       t.source, t.weight, t.bias,  t.destination,
          w.stride,    w.dilation, w.begin,  w.end,    forward, Attributes()};
}

dnnl::pooling_forward::primitive_desc DescribePooling(algorithm kind, const Desc& source,
                                                      const Desc& destination,
                                                      const WindowDims& w) {
  return {Processor(), prop_kind::forward_training,
          kind,        source,
          destination, w.stride,
          w.kernel,    w.dilation,
          w.begin,     w.end,
          Attributes()};
}

dnnl::pooling_backward::primitive_desc DescribePoolingBackward(
    algorithm kind, const Desc& source, const Desc& destination, const WindowDims& w,
    const dnnl::pooling_forward::primitive_desc& forward) {
  return {Processor(), kind,    source, destination, w.stride,    w.kernel,
          w.dilation,  w.begin, w.end,  forward,     Attributes()};
}

dnnl::eltwise_forward::primitive_desc DescribeEltwise(const Eltwise& function, const Desc& data) {
  return {Processor(), prop_kind::forward_training, function.kind, data, data, function.alpha,
          Attributes()};
}

dnnl::eltwise_backward::primitive_desc DescribeEltwiseBackward(
    const Eltwise& function, const Desc& data,
    const dnnl::eltwise_forward::primitive_desc& forward) {
  return {Processor(), function.kind, data, data, data, function.alpha, forward, Attributes()};
}

namespace {

algorithm SoftmaxKind(bool logarithm) {
  return logarithm ? algorithm::softmax_log : algorithm::softmax_accurate;
}

dnnl::softmax_forward::primitive_desc DescribeSoftmaxForward(const Desc& data, int axis,
                                                             bool logarithm) {
  return {Processor(), prop_kind::forward_training, SoftmaxKind(logarithm), data, data, axis,
          Attributes()};
}

}  // namespace

dnnl::primitive_desc DescribeSoftmax(const Desc& data, int axis, bool logarithm) {
  return DescribeSoftmaxForward(data, axis, logarithm);
}

dnnl::primitive_desc DescribeSoftmaxBackward(const Desc& data, int axis, bool logarithm) {
  return dnnl::softmax_backward::primitive_desc(
      Processor(), SoftmaxKind(logarithm), data, data, data, axis,
      DescribeSoftmaxForward(data, axis, logarithm), Attributes());
}

}  // namespace frugal::onednn

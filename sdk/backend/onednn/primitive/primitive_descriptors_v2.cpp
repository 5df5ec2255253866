// oneDNN 2: an operation's descriptor holds its tensors, and a primitive's descriptor is made of
// it.
#include "sdk/backend/onednn/primitive/primitive_descriptors.h"

namespace frugal::onednn {

using dnnl::prop_kind;

const bool kHasWinogradOneDnn = true;

void AppendEltwise(const Eltwise& function, dnnl::post_ops& post_ops) {
  post_ops.append_eltwise(1.0f, function.kind, function.alpha, 0.0f);
}

dnnl::matmul::primitive_desc DescribeMatmul(const dnnl::engine& engine, const ProductTensors& t,
                                            const dnnl::post_ops& post_ops) {
  return {{t.source, t.weight, t.bias, t.destination}, Attributes(post_ops), engine};
}

dnnl::inner_product_forward::primitive_desc DescribeInnerProduct(const dnnl::engine& engine,
                                                                 const ProductTensors& t) {
  return {{prop_kind::forward_training, t.source, t.weight, t.destination}, Attributes(), engine};
}

dnnl::inner_product_backward_data::primitive_desc DescribeInnerProductBackwardData(
    const dnnl::engine& engine, const ProductTensors& t,
    const dnnl::inner_product_forward::primitive_desc& forward) {
  return {{t.source, t.weight, t.destination}, Attributes(), engine, forward};
}

dnnl::inner_product_backward_weights::primitive_desc DescribeInnerProductBackwardWeight(
    const dnnl::engine& engine, const ProductTensors& t,
    const dnnl::inner_product_forward::primitive_desc& forward) {
  return {{t.source, t.weight, t.destination}, Attributes(), engine, forward};
}

dnnl::convolution_forward::primitive_desc DescribeConvolution(const dnnl::engine& engine,
                                                              dnnl::algorithm kind,
                                                              const ProductTensors& t,
                                                              const WindowDims& w,
                                                              const dnnl::post_ops& post_ops) {
  return {{prop_kind::forward_training, kind, t.source, t.weight, t.bias, t.destination, w.stride,
           w.dilation, w.begin, w.end},
          Attributes(post_ops),
          engine};
}

dnnl::convolution_backward_data::primitive_desc DescribeConvolutionBackwardData(
    const dnnl::engine& engine, dnnl::algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward) {
  return {{kind, t.source, t.weight, t.destination, w.stride, w.dilation, w.begin, w.end},
          Attributes(),
          engine,
          forward};
}

dnnl::convolution_backward_weights::primitive_desc DescribeConvolutionBackwardWeight(
    const dnnl::engine& engine, dnnl::algorithm kind, const ProductTensors& t, const WindowDims& w,
    const dnnl::convolution_forward::primitive_desc& forward,
    const std::function<bool(std::string_view)>& is_wanted) {
  using Backward = dnnl::convolution_backward_weights;
  const Backward::desc operation(kind, t.source, t.weight, t.bias, t.destination, w.stride,
                                 w.dilation, w.begin, w.end);
  Backward::primitive_desc descriptor(operation, Attributes(), engine, forward);
  while (!is_wanted(descriptor.impl_info_str())) {
    if (!descriptor.next_impl()) throw dnnl::error(dnnl_unimplemented, "none that is wanted");
  }
  return descriptor;
}

dnnl::pooling_forward::primitive_desc DescribePooling(const dnnl::engine& engine,
                                                      dnnl::algorithm kind, const Desc& source,
                                                      const Desc& destination,
                                                      const WindowDims& w) {
  return {
      {prop_kind::forward_training, kind, source, destination, w.stride, w.kernel, w.begin, w.end},
      Attributes(),
      engine};
}

dnnl::pooling_backward::primitive_desc DescribePoolingBackward(
    const dnnl::engine& engine, dnnl::algorithm kind, const Desc& source, const Desc& destination,
    const WindowDims& w, const dnnl::pooling_forward::primitive_desc& forward) {
  return {{kind, source, destination, w.stride, w.kernel, w.begin, w.end},
          Attributes(),
          engine,
          forward};
}

dnnl::eltwise_forward::primitive_desc DescribeEltwise(const dnnl::engine& engine,
                                                      const Eltwise& function, const Desc& data) {
  return {{prop_kind::forward_training, function.kind, data, function.alpha}, Attributes(), engine};
}

dnnl::eltwise_backward::primitive_desc DescribeEltwiseBackward(
    const dnnl::engine& engine, const Eltwise& function, const Desc& data,
    const dnnl::eltwise_forward::primitive_desc& forward) {
  return {{function.kind, data, data, function.alpha}, Attributes(), engine, forward};
}

namespace {

// The logarithm is a primitive of its own.
template <class Forward>
typename Forward::primitive_desc DescribeSoftmaxAs(const dnnl::engine& engine, const Desc& data,
                                                   int axis) {
  return {{prop_kind::forward_training, data, axis}, Attributes(), engine};
}

template <class Forward, class Backward>
dnnl::primitive_desc DescribeSoftmaxBackwardAs(const dnnl::engine& engine, const Desc& data,
                                               int axis) {
  return typename Backward::primitive_desc({data, data, axis}, Attributes(), engine,
                                           DescribeSoftmaxAs<Forward>(engine, data, axis));
}

}  // namespace

dnnl::primitive_desc DescribeSoftmax(const dnnl::engine& engine, const Desc& data, int axis,
                                     bool logarithm) {
  if (logarithm) return DescribeSoftmaxAs<dnnl::logsoftmax_forward>(engine, data, axis);
  return DescribeSoftmaxAs<dnnl::softmax_forward>(engine, data, axis);
}

dnnl::primitive_desc DescribeSoftmaxBackward(const dnnl::engine& engine, const Desc& data, int axis,
                                             bool logarithm) {
  if (logarithm) {
    return DescribeSoftmaxBackwardAs<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(
        engine, data, axis);
  }
  return DescribeSoftmaxBackwardAs<dnnl::softmax_forward, dnnl::softmax_backward>(engine, data,
                                                                                  axis);
}

}  // namespace frugal::onednn

#pragma once

#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

// One way to describe oneDNN's primitives under each of its major versions: these functions are
// defined in primitive_descriptors_v2.cpp and again in primitive_descriptors_v3.cpp, and CMake
// takes the one that fits the library it found. Nothing else knows the version. Internal, since it
// sees oneDNN.
//
// Every primitive takes its scratch from the caller. Each function throws dnnl::error where oneDNN
// has no such primitive; a bias that is an empty descriptor stands for none. `engine` must live as
// long as what is made of it, which may hold no more than its address.
namespace frugal::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

// False under oneDNN 3, whose convolutions no longer go by Winograd's transformation.
extern const bool kHasWinogradOneDnn;

dnnl::engine Processor();
// Scratch from the caller, and these operations on the way out.
dnnl::primitive_attr Attributes(const dnnl::post_ops& post_ops = {});

// A function of oneDNN with its first parameter.
struct Eltwise {
  dnnl::algorithm kind;
  float alpha;
};
void AppendEltwise(const Eltwise& function, dnnl::post_ops& post_ops);

// destination = source weight + bias; of a gradient, `destination` is the gradient that arrives.
struct ProductTensors {
  Desc source, weight, destination;
  Desc bias = {};
};
dnnl::matmul::primitive_desc DescribeMatmul(const dnnl::engine& engine,
                                            const ProductTensors& tensors,
                                            const dnnl::post_ops& post_ops = {});
dnnl::inner_product_forward::primitive_desc DescribeInnerProduct(const dnnl::engine& engine,
                                                                 const ProductTensors& tensors);
// `forward` tells oneDNN which forward pass this belongs to, here and below.
dnnl::inner_product_backward_data::primitive_desc DescribeInnerProductBackwardData(
    const dnnl::engine& engine, const ProductTensors& tensors,
    const dnnl::inner_product_forward::primitive_desc& forward);
dnnl::inner_product_backward_weights::primitive_desc DescribeInnerProductBackwardWeight(
    const dnnl::engine& engine, const ProductTensors& tensors,
    const dnnl::inner_product_forward::primitive_desc& forward);

// Holds numbers per axis of the window; oneDNN's dilation counts the gaps, 0 where there are none.
struct WindowDims {
  Dims kernel, stride, dilation, begin, end;
};

dnnl::convolution_forward::primitive_desc DescribeConvolution(const dnnl::engine& engine,
                                                              dnnl::algorithm kind,
                                                              const ProductTensors& tensors,
                                                              const WindowDims& window,
                                                              const dnnl::post_ops& post_ops);
dnnl::convolution_backward_data::primitive_desc DescribeConvolutionBackwardData(
    const dnnl::engine& engine, dnnl::algorithm kind, const ProductTensors& tensors,
    const WindowDims& window, const dnnl::convolution_forward::primitive_desc& forward);
// The first implementation whose name `is_wanted` accepts; throws dnnl::error where there is none.
// They are looked through in here, since version 2 reads its operation's descriptor for each.
dnnl::convolution_backward_weights::primitive_desc DescribeConvolutionBackwardWeight(
    const dnnl::engine& engine, dnnl::algorithm kind, const ProductTensors& tensors,
    const WindowDims& window, const dnnl::convolution_forward::primitive_desc& forward,
    const std::function<bool(std::string_view name)>& is_wanted);

dnnl::pooling_forward::primitive_desc DescribePooling(const dnnl::engine& engine,
                                                      dnnl::algorithm kind, const Desc& source,
                                                      const Desc& destination,
                                                      const WindowDims& window);
dnnl::pooling_backward::primitive_desc DescribePoolingBackward(
    const dnnl::engine& engine, dnnl::algorithm kind, const Desc& source, const Desc& destination,
    const WindowDims& window, const dnnl::pooling_forward::primitive_desc& forward);

// The function goes from `data` to `data`, in place or not; the gradient reads the source.
dnnl::eltwise_forward::primitive_desc DescribeEltwise(const dnnl::engine& engine,
                                                      const Eltwise& function, const Desc& data);
dnnl::eltwise_backward::primitive_desc DescribeEltwiseBackward(
    const dnnl::engine& engine, const Eltwise& function, const Desc& data,
    const dnnl::eltwise_forward::primitive_desc& forward);

// Describes the softmax along `axis`, or its logarithm; the gradient reads the destination.
dnnl::primitive_desc DescribeSoftmax(const dnnl::engine& engine, const Desc& data, int axis,
                                     bool logarithm);
dnnl::primitive_desc DescribeSoftmaxBackward(const dnnl::engine& engine, const Desc& data, int axis,
                                             bool logarithm);

}  // namespace frugal::onednn

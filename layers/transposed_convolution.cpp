#include "layers/transposed_convolution.h"

#include "layers/convolution_shared.h"
#include "layers/dense.h"
#include "layers/describe.h"
#include "layers/types/row.h"
#include "layers/types/window_fields.h"
#include "sdk/core/error.h"
#include "sdk/ops/spatial/transposed_convolution.h"

namespace frugal {
namespace {

template <std::size_t kAxes>
WindowOwner Owner() {
  return {"conv_transpose" + std::to_string(kAxes) + "d", kAxes};
}

template <std::size_t kAxes>
Spatial OutputPadding(const TransposedConvolutionOptions<kAxes>& options,
                      const WindowOptions& window) {
  const WindowOwner owner = Owner<kAxes>();
  const Spatial padding = SpreadOverAxes(options.output_padding, "output_padding", 0, 0, owner);
  for (std::size_t axis = 0; axis < padding.size(); ++axis) {
    if (padding[axis] < window.stride[axis]) continue;
    throw ConfigError({.where = owner.layer,
                       .required = "output_padding is less than the stride",
                       .given = "output_padding = " + DescribeExtents(padding, kAxes) +
                                ", stride = " + DescribeExtents(window.stride, kAxes),
                       .advice = "a larger result needs a larger kernel or stride"});
  }
  return padding;
}

template <std::size_t kAxes>
Shape WeightShape(std::int64_t channels, const TransposedConvolutionOptions<kAxes>& options,
                  const WindowOptions& window) {
  CheckFilters(Owner<kAxes>().layer, channels, options.filters, options.groups);
  return ConvolutionWeightShape(channels, options.filters / options.groups, window, kAxes);
}

}  // namespace

template <std::size_t kAxes>
TransposedConvolutionLayer<kAxes>::TransposedConvolutionLayer(
    std::int64_t channels, const TransposedConvolutionOptions<kAxes>& options)
    : options_(options),
      window_(ToWindow({options.kernel, options.stride, options.padding, options.dilation}, {1},
                       Owner<kAxes>())),
      output_padding_(OutputPadding(options, window_)),
      weight_(AddParameter("weight", WeightShape(channels, options, window_),
                           options.initializer.value_or(DefaultInitializer({})))),
      bias_(options.bias ? &AddParameter("bias", {options.filters}, Initializer::Zero())
                         : nullptr) {}

template <std::size_t kAxes>
std::string TransposedConvolutionLayer<kAxes>::Describe() const {
  const bool padded = output_padding_ != Spatial{};
  return Owner<kAxes>().layer + " " + std::to_string(weight_.shape[0]) + " -> " +
         std::to_string(options_.filters) + ", " + DescribeWindow(window_, kAxes) +
         (padded ? ", output padding " + DescribeExtents(output_padding_, kAxes) : "") +
         DescribeGroups(options_.groups) + (bias_ ? "" : ", no bias");
}

template <std::size_t kAxes>
Var TransposedConvolutionLayer<kAxes>::Forward(Context& context, const Var& input) {
  CheckSpatialAxes(context, input, "conv_transpose", kAxes);
  return TransposedConvolution(context, input, weight_, bias_, window_, output_padding_,
                               options_.groups);
}

template class TransposedConvolutionLayer<1>;
template class TransposedConvolutionLayer<2>;
template class TransposedConvolutionLayer<3>;

namespace {

template <std::size_t kAxes>
LayerType TransposedTypeOver() {
  using Options = TransposedConvolutionOptions<kAxes>;
  std::vector<Field> fields = WindowFields<Options>(kAxes, kMostFactor);
  fields.push_back(MakeField("output_padding", &Options::output_padding,
                             "Added to the end of the result; less than the stride.",
                             PerAxisLimits(0, kAxes)));
  fields.push_back(MakeTable("initializer", &Options::initializer,
                             "Of the weight; none: xavier_uniform.", InitializerFields()));
  return RowOf<Options>("conv_transpose" + std::to_string(kAxes) + "d", fields,
                        OfFeatures<TransposedConvolutionLayer<kAxes>>);
}

}  // namespace

LayerType ConvTranspose1dType() { return TransposedTypeOver<1>(); }

LayerType ConvTranspose2dType() { return TransposedTypeOver<2>(); }

LayerType ConvTranspose3dType() { return TransposedTypeOver<3>(); }

}  // namespace frugal

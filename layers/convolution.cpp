#include "layers/convolution.h"

#include "layers/convolution_shared.h"
#include "layers/dense.h"
#include "layers/describe.h"
#include "layers/types/row.h"
#include "layers/types/window_fields.h"

namespace frugal {
namespace {

template <std::size_t kAxes>
std::string Name() {
  return "conv" + std::to_string(kAxes) + "d";
}

template <std::size_t kAxes>
Shape WeightShape(std::int64_t channels, const ConvolutionOptions<kAxes>& options,
                  const WindowOptions& window) {
  CheckFilters(Name<kAxes>(), channels, options.filters, options.groups);
  return ConvolutionWeightShape(options.filters, channels / options.groups, window, kAxes);
}

}  // namespace

template <std::size_t kAxes>
ConvolutionLayer<kAxes>::ConvolutionLayer(std::int64_t channels,
                                          const ConvolutionOptions<kAxes>& options)
    : options_(options),
      window_(ToWindow({options.kernel, options.stride, options.padding, options.dilation}, {1},
                       {Name<kAxes>(), kAxes})),
      weight_(AddParameter("weight", WeightShape(channels, options, window_),
                           options.initializer.value_or(DefaultInitializer(options.activation)))),
      bias_(options.bias ? &AddParameter("bias", {options.filters}, Initializer::Zero())
                         : nullptr) {}

template <std::size_t kAxes>
std::string ConvolutionLayer<kAxes>::Describe() const {
  return Name<kAxes>() + " " + std::to_string(weight_.shape[1] * options_.groups) + " -> " +
         std::to_string(options_.filters) + ", " + DescribeWindow(window_, kAxes) +
         DescribeGroups(options_.groups) + DescribeActivation(options_.activation) +
         (bias_ ? "" : ", no bias");
}

template <std::size_t kAxes>
Var ConvolutionLayer<kAxes>::Forward(Context& context, const Var& input) {
  CheckSpatialAxes(context, input, "conv", kAxes);
  return Convolution(context, input, weight_, bias_, window_, options_.groups, options_.activation);
}

template class ConvolutionLayer<1>;
template class ConvolutionLayer<2>;
template class ConvolutionLayer<3>;

namespace {

template <std::size_t kAxes>
LayerType TypeOver() {
  using Options = ConvolutionOptions<kAxes>;
  std::vector<Field> fields = WindowFields<Options>(kAxes, kMostPerAxis);
  fields.push_back(ActivationField("activation", &Options::activation, "Behind the convolution."));
  fields.push_back(MakeTable("initializer", &Options::initializer,
                             "Of the weight; none: by the activation.", InitializerFields()));
  return RowOf<Options>("conv" + std::to_string(kAxes) + "d", fields,
                        OfFeatures<ConvolutionLayer<kAxes>>);
}

}  // namespace

LayerType Conv1dType() { return TypeOver<1>(); }

LayerType Conv2dType() { return TypeOver<2>(); }

LayerType Conv3dType() { return TypeOver<3>(); }

}  // namespace frugal

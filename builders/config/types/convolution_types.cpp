#include <array>

#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

constexpr std::array<const char*, 4> kAxesDocs = {
    "", "Its length.", "Height and width, or one for both.", "Depth, height and width, or one."};

// Convolutions and their transposes: the fields that both have.
template <class T>
std::vector<Field> WindowFields(std::size_t axes, double most_stride) {
  FieldLimits stride = PerAxisLimits(1, axes);
  stride.max = most_stride;
  return {
      MakeField("filters", &T::filters, "Output channels.", SizeLimits(true)),
      MakeField("kernel", &T::kernel, kAxesDocs[axes], PerAxisLimits(1, axes, true)),
      MakeField("stride", &T::stride, "Step of the kernel.", stride),
      MakeField("padding", &T::padding, "Zeros on each side.", PerAxisLimits(0, axes)),
      MakeField("dilation", &T::dilation, "Distance of kernel elements.", PerAxisLimits(1, axes)),
      MakeField("groups", &T::groups, "Channels are split into so many groups.", SizeLimits()),
      MakeField("bias", &T::bias, "Whether a bias is added.")};
}

template <std::size_t kAxes>
LayerType ConvolutionType() {
  using Options = ConvolutionOptions<kAxes>;
  std::vector<Field> fields = WindowFields<Options>(kAxes, kMostPerAxis);
  fields.push_back(ActivationField("activation", &Options::activation, "Behind the convolution."));
  fields.push_back(MakeTable("initializer", &Options::initializer,
                             "Of the weight; none: by the activation.", InitializerFields()));
  return RowOf<Options>(MakeFieldTable<Options>("conv" + std::to_string(kAxes) + "d", fields),
                        OfFeatures<ConvolutionLayer<kAxes>>);
}

template <std::size_t kAxes>
LayerType TransposedType() {
  using Options = TransposedConvolutionOptions<kAxes>;
  std::vector<Field> fields = WindowFields<Options>(kAxes, kMostFactor);
  fields.push_back(MakeField("output_padding", &Options::output_padding,
                             "Added to the end of the result; less than the stride.",
                             PerAxisLimits(0, kAxes)));
  fields.push_back(MakeTable("initializer", &Options::initializer,
                             "Of the weight; none: xavier_uniform.", InitializerFields()));
  return RowOf<Options>(
      MakeFieldTable<Options>("conv_transpose" + std::to_string(kAxes) + "d", fields),
      OfFeatures<TransposedConvolutionLayer<kAxes>>);
}

}  // namespace

std::vector<LayerType> ConvolutionTypes() {
  return {ConvolutionType<1>(), ConvolutionType<2>(), ConvolutionType<3>(),
          TransposedType<1>(),  TransposedType<2>(),  TransposedType<3>()};
}

}  // namespace frugal

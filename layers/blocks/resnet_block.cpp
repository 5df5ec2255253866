#include "layers/blocks/resnet_block.h"

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/pool.h"
#include "sdk/ops/spatial/upsample.h"

namespace frugal {
namespace {

template <std::size_t kAxes>
ConvolutionOptions<kAxes> Same(std::int64_t filters, std::optional<Initializer> initializer = {}) {
  ConvolutionOptions<kAxes> options{.filters = filters, .initializer = initializer};
  options.kernel = kAxes == 3 ? PerAxis{3, 1, 1} : PerAxis{3};
  options.padding = kAxes == 3 ? PerAxis{1, 0, 0} : PerAxis{1};
  return options;
}

// x with a row of `shift` [N, C] added to each of N equal parts.
Var Shifted(Context& context, const Var& x, const Var& shift) {
  const std::int64_t samples = shift.shape()[0];
  if (x.shape()[0] == samples) return Modulate(context, x, shift, {});
  const Shape parts = {samples, x.shape().RowCount() / samples, x.shape().back()};
  return Reshape(context, Modulate(context, Reshape(context, x, parts), shift, {}), x.shape());
}

// x (1 + scale) + shift, by a row [N, 2 C] with the scale first.
Var Scaled(Context& context, const Var& x, const Var& both) {
  const std::int64_t channels = x.shape().back();
  const Var scale = Slice(context, both, {{.axis = 1, .begin = 0, .end = channels}});
  const Var shift = Slice(context, both, {{.axis = 1, .begin = channels, .end = 2 * channels}});
  return Modulate(context, x, shift, scale);
}

Var Resampled(Context& context, const Var& x, Resampling resampling) {
  if (resampling == Resampling::kNone) return x;
  if (resampling == Resampling::kDouble) return Upsample(context, x, 2, Upsampling::kNearest);
  return AveragePool(context, x, {.kernel = {1, 2, 2}, .stride = {1, 2, 2}});
}

}  // namespace

template <std::size_t kAxes>
ResnetBlock<kAxes>::ResnetBlock(const ResnetBlockOptions& options)
    : norm1_(options.inputs, {.groups = options.groups, .eps = options.eps}),
      conv1_(options.inputs, Same<kAxes>(options.outputs)),
      norm2_(options.outputs, {.groups = options.groups, .eps = options.eps}),
      conv2_(options.outputs, Same<kAxes>(options.outputs, options.starts_as_shortcut
                                                               ? std::optional(Initializer::Zero())
                                                               : std::nullopt)),
      scales_(options.scales),
      resampling_(options.resampling),
      output_factor_(options.output_factor) {
  AddChild("norm1", norm1_);
  AddChild("conv1", conv1_);
  if (options.time_features > 0) {
    const std::int64_t units = (options.scales ? 2 : 1) * options.outputs;
    AddChild("time_emb_proj", time_.emplace(options.time_features, DenseOptions{.units = units}));
  }
  AddChild("norm2", norm2_);
  AddChild("conv2", conv2_);
  if (options.inputs != options.outputs || options.always_projects) {
    const ConvolutionOptions<kAxes> pointwise{.filters = options.outputs, .kernel = {1}};
    AddChild("conv_shortcut", shortcut_.emplace(options.inputs, pointwise));
  }
}

// One step per line: what a line makes out of h is the only thing that it leaves behind.
template <std::size_t kAxes>
Var ResnetBlock<kAxes>::operator()(Context& context, const Var& x, const Var& c) {
  Var h = norm1_(context, x);
  h = Activate(context, h, Activation::kSilu);
  h = Resampled(context, h, resampling_);
  h = conv1_(context, h);
  if (time_ && !scales_) h = Shifted(context, h, (*time_)(context, c));
  h = norm2_(context, h);
  if (time_ && scales_) h = Scaled(context, h, (*time_)(context, c));
  h = Activate(context, h, Activation::kSilu);
  h = conv2_(context, h);
  const Var around = Resampled(context, x, resampling_);
  h = Add(context, h, shortcut_ ? (*shortcut_)(context, around) : around);
  return output_factor_ == 1 ? h : Scale(context, h, output_factor_);
}

template class ResnetBlock<2>;
template class ResnetBlock<3>;

}  // namespace frugal

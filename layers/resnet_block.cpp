#include "layers/resnet_block.h"

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/modulation.h"

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

}  // namespace

template <std::size_t kAxes>
ResnetBlock<kAxes>::ResnetBlock(const ResnetBlockOptions& options)
    : norm1_(options.inputs, {.groups = options.groups, .epsilon = options.epsilon}),
      conv1_(options.inputs, Same<kAxes>(options.outputs)),
      norm2_(options.outputs, {.groups = options.groups, .epsilon = options.epsilon}),
      conv2_(options.outputs, Same<kAxes>(options.outputs, options.starts_as_shortcut
                                                               ? std::optional(Initializer::Zero())
                                                               : std::nullopt)) {
  AddChild("norm1", norm1_);
  AddChild("conv1", conv1_);
  if (options.time_features > 0) {
    AddChild("time_emb_proj",
             time_.emplace(options.time_features, DenseOptions{.units = options.outputs}));
  }
  AddChild("norm2", norm2_);
  AddChild("conv2", conv2_);
  if (options.inputs != options.outputs) {
    const ConvolutionOptions<kAxes> pointwise{.filters = options.outputs, .kernel = {1}};
    AddChild("conv_shortcut", shortcut_.emplace(options.inputs, pointwise));
  }
}

// One step per line: what a line makes out of h is the only thing that it leaves behind.
template <std::size_t kAxes>
Var ResnetBlock<kAxes>::operator()(Context& context, const Var& x, const Var& c) {
  Var h = norm1_(context, x);
  h = Activate(context, h, Activation::kSilu);
  h = conv1_(context, h);
  if (time_) h = Shifted(context, h, (*time_)(context, c));
  h = norm2_(context, h);
  h = Activate(context, h, Activation::kSilu);
  h = conv2_(context, h);
  return Add(context, shortcut_ ? (*shortcut_)(context, x) : x, h);
}

template class ResnetBlock<2>;
template class ResnetBlock<3>;

}  // namespace frugal

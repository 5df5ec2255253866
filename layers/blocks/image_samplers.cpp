#include "layers/blocks/image_samplers.h"

#include "layers/convolution_shared.h"
#include "layers/dense.h"
#include "sdk/ops/spatial/upsample.h"

namespace frugal {

Downsampler::Downsampler(std::int64_t channels, std::int64_t padding, std::int64_t outputs)
    : window_{.kernel = {1, 3, 3},
              .stride = {1, 2, 2},
              .padding_begin = {0, padding, padding},
              .padding_end = {0, padding > 0 ? padding : 1, padding > 0 ? padding : 1}},
      weight_(AddParameter("conv.weight", {outputs > 0 ? outputs : channels, channels, 3, 3},
                           DefaultInitializer({}))),
      bias_(AddParameter("conv.bias", {weight_.shape[0]}, Initializer::Zero())) {}

Var Downsampler::operator()(Context& context, const Var& x) {
  const LabelScope label(context, path());
  CheckSpatialAxes(context, x, "downsample", 2);
  return Convolution(context, x, weight_, &bias_, window_, 1);
}

std::string Downsampler::Describe() const {
  return "downsampler, " + std::to_string(weight_.shape[0]) + " channels";
}

Upsampler::Upsampler(std::int64_t channels)
    : conv_(channels, {.filters = channels, .kernel = {3}, .padding = {1}}) {
  AddChild("conv", conv_);
}

Var Upsampler::operator()(Context& context, const Var& x) {
  return conv_(context, Upsample(context, x, 2, Upsampling::kNearest));
}

}  // namespace frugal

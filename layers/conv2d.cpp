#include "layers/conv2d.h"

#include "layers/dense.h"
#include "layers/describe.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

Shape WeightShape(std::int64_t channels, const Conv2dOptions& options,
                  const WindowOptions& window) {
  if (options.filters < 1) {
    throw ConfigError({.where = "conv2d",
                       .required = "filters is at least 1",
                       .given = "filters = " + std::to_string(options.filters),
                       .advice = "say how many output channels the layer has"});
  }
  if (options.groups < 1 || channels % options.groups != 0 ||
      options.filters % options.groups != 0) {
    throw ConfigError({.where = "conv2d",
                       .required = "groups divide the input channels (" + std::to_string(channels) +
                                   ") and the filters (" + std::to_string(options.filters) + ")",
                       .given = "groups = " + std::to_string(options.groups),
                       .advice = "choose a common divisor"});
  }
  return {options.filters, channels / options.groups, window.kernel[1], window.kernel[2]};
}

}  // namespace

Conv2d::Conv2d(std::int64_t channels, const Conv2dOptions& options)
    : options_(options),
      window_(ToWindow({options.kernel, options.stride, options.padding, options.dilation}, {1},
                       "conv2d")),
      weight_(AddParameter("weight", WeightShape(channels, options, window_),
                           options.initializer.value_or(DefaultInitializer(options.activation)))),
      bias_(options.bias ? &AddParameter("bias", {options.filters}, Initializer::Zero())
                         : nullptr) {}

std::string Conv2d::Describe() const {
  return "conv2d " + std::to_string(weight_.shape[1] * options_.groups) + " -> " +
         std::to_string(options_.filters) + ", " + DescribeWindow(window_) +
         (options_.groups > 1 ? ", " + std::to_string(options_.groups) + " groups" : "") +
         DescribeActivation(options_.activation) + (bias_ ? "" : ", no bias");
}

Var Conv2d::Forward(Context& context, const Var& input) {
  return Convolution(context, input, weight_, bias_, window_, options_.groups, options_.activation);
}

}  // namespace frugal

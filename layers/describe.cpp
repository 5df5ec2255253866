#include "layers/describe.h"

namespace frugal {
namespace {

// "3" where both axes agree, else "3x5".
std::string Pair(const Spatial& values) {
  const std::string height = std::to_string(values[1]);
  return values[1] == values[2] ? height : height + "x" + std::to_string(values[2]);
}

}  // namespace

std::string DescribeActivation(ActivationFunction activation) {
  if (activation.kind == Activation::kIdentity) return "";
  return ", " + std::string(NameOf(activation.kind));
}

std::string DescribeWindow(const WindowOptions& window) {
  std::string text = std::to_string(window.kernel[1]) + "x" + std::to_string(window.kernel[2]) +
                     ", stride " + Pair(window.stride);
  if (window.padding_begin != Spatial{}) text += ", padding " + Pair(window.padding_begin);
  if (window.dilation != Spatial{1, 1, 1}) text += ", dilation " + Pair(window.dilation);
  return text;
}

}  // namespace frugal

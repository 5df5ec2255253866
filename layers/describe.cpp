#include "layers/describe.h"

#include <algorithm>
#include <span>

namespace frugal {
namespace {

// "3x3x1"
std::string Joined(std::span<const std::int64_t> values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

}  // namespace

std::string DescribeActivation(ActivationFunction activation) {
  if (activation.kind == Activation::kIdentity) return "";
  return ", " + std::string(NameOf(activation.kind));
}

std::string DescribeExtents(const Spatial& values, std::size_t axes) {
  const auto used = std::span(values).last(axes);
  const bool agree = std::ranges::all_of(used, [&](auto value) { return value == used.front(); });
  return Joined(agree ? used.first(1) : used);
}

std::string DescribeWindow(const WindowOptions& window, std::size_t axes) {
  std::string text = (axes == 1 ? "kernel " : "") + Joined(std::span(window.kernel).last(axes)) +
                     ", stride " + DescribeExtents(window.stride, axes);
  if (window.padding_begin != Spatial{}) {
    text += ", padding " + DescribeExtents(window.padding_begin, axes);
  }
  if (window.dilation != Spatial{1, 1, 1}) {
    text += ", dilation " + DescribeExtents(window.dilation, axes);
  }
  return text;
}

}  // namespace frugal

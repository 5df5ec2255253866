#include "layers/window_options.h"

#include <algorithm>
#include <array>

#include "sdk/core/error.h"

namespace frugal {
namespace {

struct Wording {
  const char* count;
  const char* advice;
};
constexpr std::array<Wording, 4> kWordings = {
    Wording{"", ""},
    {"one number", "give one number"},
    {"one or two numbers", "give one number for both axes, or [height, width]"},
    {"one or three numbers", "give one number for all axes, or [depth, height, width]"}};

void Require(bool holds, const std::string& required, const PerAxis& given,
             const WindowOwner& owner) {
  if (holds) return;
  std::string list;
  for (const std::int64_t value : given) list += (list.empty() ? "" : ", ") + std::to_string(value);
  throw ConfigError({.where = owner.layer,
                     .required = required,
                     .given = "[" + list + "] was given",
                     .advice = kWordings[owner.axes].advice});
}

const PerAxis& Or(const PerAxis& values, const PerAxis& otherwise) {
  return values.empty() ? otherwise : values;
}

}  // namespace

Spatial SpreadOverAxes(const PerAxis& values, const std::string& name, std::int64_t least,
                       std::int64_t unused, const WindowOwner& owner) {
  Require(values.size() == 1 || values.size() == owner.axes,
          name + " takes " + kWordings[owner.axes].count, values, owner);
  Require(std::ranges::min(values) >= least, name + " is at least " + std::to_string(least), values,
          owner);
  Spatial spread{unused, unused, unused};
  const std::size_t first = spread.size() - owner.axes;
  for (std::size_t i = 0; i < owner.axes; ++i) {
    spread[first + i] = values.size() == 1 ? values.front() : values[i];
  }
  return spread;
}

WindowOptions ToWindow(const WindowExtents& extents, const PerAxis& default_stride,
                       const WindowOwner& owner) {
  WindowOptions window;
  window.kernel = SpreadOverAxes(extents.kernel, "kernel", 1, 1, owner);
  window.stride = SpreadOverAxes(Or(extents.stride, default_stride), "stride", 1, 1, owner);
  window.padding_begin = SpreadOverAxes(Or(extents.padding, {0}), "padding", 0, 0, owner);
  window.padding_end = window.padding_begin;
  window.dilation = SpreadOverAxes(Or(extents.dilation, {1}), "dilation", 1, 1, owner);
  return window;
}

}  // namespace frugal

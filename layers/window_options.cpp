#include "layers/window_options.h"

#include "sdk/core/error.h"

namespace frugal {
namespace {

void Require(bool holds, const std::string& layer, const std::string& required,
             const PerAxis& given) {
  if (holds) return;
  std::string list;
  for (const std::int64_t value : given) list += (list.empty() ? "" : ", ") + std::to_string(value);
  throw ConfigError({.where = layer,
                     .required = required,
                     .given = "[" + list + "] was given",
                     .advice = "give one number for both axes, or [height, width]"});
}

const PerAxis& Or(const PerAxis& values, const PerAxis& otherwise) {
  return values.empty() ? otherwise : values;
}

}  // namespace

Spatial SpreadOverAxes(const PerAxis& values, const std::string& name, std::int64_t least,
                       std::int64_t unused, const std::string& layer) {
  Require(values.size() == 1 || values.size() == 2, layer, name + " takes one or two numbers",
          values);
  Require(values.front() >= least && values.back() >= least, layer,
          name + " is at least " + std::to_string(least), values);
  return {unused, values.front(), values.back()};
}

WindowOptions ToWindow(const Window2dOptions& options, const PerAxis& default_stride,
                       const std::string& layer) {
  WindowOptions window;
  window.kernel = SpreadOverAxes(options.kernel, "kernel", 1, 1, layer);
  window.stride = SpreadOverAxes(Or(options.stride, default_stride), "stride", 1, 1, layer);
  window.padding_begin = SpreadOverAxes(Or(options.padding, {0}), "padding", 0, 0, layer);
  window.padding_end = window.padding_begin;
  window.dilation = SpreadOverAxes(Or(options.dilation, {1}), "dilation", 1, 1, layer);
  return window;
}

}  // namespace frugal

#include "sdk/ops/boxes.h"
#include "sdk/ops/check.h"
#include "sdk/ops/precision.h"
#include "sdk/ops/rotary.h"

namespace frugal {

Var SinusoidsOfAxes(Context& context, const std::vector<AxisPositions>& axes,
                    const std::vector<std::size_t>& order, std::int64_t leading) {
  const RotaryAngles angles = AnglesOfAxes(context, axes, leading);
  std::vector<SliceRange> columns;
  std::int64_t begin = 0;
  for (const AxisPositions& axis : axes) {
    columns.push_back({.axis = 1, .begin = begin, .end = begin + axis.rotary_size / 2});
    begin += axis.rotary_size / 2;
  }
  std::vector<Var> parts;
  for (const std::size_t axis : order) {
    if (axis >= axes.size()) {
      ThrowShape(context, "the order of position features names the axes by number",
                 angles.cosine.shape(), "axis " + std::to_string(axis) + " is not one of them");
    }
    parts.push_back(Slice(context, {angles.sine}, {columns[axis]}));
    parts.push_back(Slice(context, {angles.cosine}, {columns[axis]}));
  }
  if (parts.empty()) {
    ThrowShape(context, "position features take at least one axis", angles.cosine.shape(),
               "name the axes in their order");
  }
  return ToActivation(context, Concat(context, parts, 1));
}

}  // namespace frugal

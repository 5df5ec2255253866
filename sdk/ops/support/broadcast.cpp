#include "sdk/ops/support/broadcast.h"

#include <algorithm>
#include <vector>

#include "sdk/ops/support/check.h"

namespace frugal {

Shape Widen(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> extents(rank, 1);
  std::ranges::copy(shape.extents(), extents.end() - static_cast<std::ptrdiff_t>(shape.rank()));
  return Shape(extents);
}

Shape BroadcastShape(Context& context, const Shape& a, const Shape& b) {
  Shape y = a;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) {
      ThrowShape(context, "extents are equal or 1, as those of " + ToString(a), b,
                 "reshape or repeat one of the two");
    }
    if (a[i] == 1) y[i] = b[i];
  }
  return y;
}

}  // namespace frugal

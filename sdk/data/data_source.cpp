#include "sdk/data/data_source.h"

#include <vector>

namespace frugal {
namespace {

Shape Prepend(std::int64_t batch, const Shape& shape) {
  std::vector<std::int64_t> extents = {batch};
  extents.insert(extents.end(), shape.extents().begin(), shape.extents().end());
  return Shape(extents);
}

}  // namespace

Shape DataLayout::BatchShape(std::int64_t batch) const { return Prepend(batch, sample_shape); }

Shape DataLayout::TargetBatchShape(std::int64_t batch) const {
  return Prepend(batch, classes > 0 ? label_shape : target_shape);
}

}  // namespace frugal

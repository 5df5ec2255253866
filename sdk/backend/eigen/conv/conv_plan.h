#pragma once

#include "sdk/backend/geometry.h"

namespace frugal::eigen {

// How a convolution is cut into pieces of work: from the geometry alone, so that results do not
// depend on the number of threads.
struct ConvPlan {
  std::int64_t group_inputs = 1;   // Cin / groups
  std::int64_t group_outputs = 1;  // Cout / groups
  std::int64_t taps = 1;           // K, kernel positions
  std::int64_t width = 1;          // columns of a piece of work
  std::int64_t tile = 1;           // output positions gathered at a time
  std::int64_t tiles = 1;          // of one image
  std::int64_t pieces = 1;         // widths in the columns (or channels) of a group

  std::int64_t GroupColumns() const { return taps * group_inputs; }
};

// All columns of a group at once; pieces of work are (image, tile).
ConvPlan PlanForward(const ConvGeometry& g, std::int64_t element_bytes);
// Pieces of work are (image, group, block of input channels), which write disjoint gradients;
// `width` counts channels.
ConvPlan PlanBackwardData(const ConvGeometry& g, std::int64_t element_bytes);
// Pieces of work are (group, block of columns), each summing over all images in order.
ConvPlan PlanBackwardWeight(const ConvGeometry& g, std::int64_t element_bytes);

// Elements of the weight.
std::int64_t WeightSize(const ConvGeometry& g);

}  // namespace frugal::eigen

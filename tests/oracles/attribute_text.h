#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sdk/backend/geometry.h"
#include "sdk/ops/shape_ops.h"

// Attributes of a case that are more than one number or word. What cannot be understood throws a
// DataError: a case must not pass as something else than what it says.
namespace frugal::oracles {

// `value`, or the numbers of a list, on the last `rank` of three axes; `unused` before them.
Spatial SpatialAttribute(const nlohmann::json& attributes, const std::string& name,
                         std::size_t rank, std::int64_t unused, const nlohmann::json& fallback);

// Axes in [0, rank), in the order given; all of them where there are none.
std::vector<std::int64_t> AxesAttribute(const nlohmann::json& attributes, std::size_t rank);

// How much is added at the two ends of each axis.
struct Pads {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};
// "last axis 1,2; the one before 0,3", or a list [1, 2, 0, 3] of the same order.
Pads ParsePads(const nlohmann::json& pads, std::size_t rank);

// Python's ":, 1:4, ::2": ranges with steps, "..." and single numbers, whose axes vanish.
struct Slices {
  std::vector<SliceRange> ranges;
  std::vector<std::int64_t> vanishing;
};
Slices ParseSlices(const std::string& text, const Shape& shape);

}  // namespace frugal::oracles

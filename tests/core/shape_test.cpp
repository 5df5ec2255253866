#include "sdk/core/shape.h"

#include <vector>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a shape counts elements and rows", "[core]") {
  const Shape shape = {4, 3, 2};
  CHECK(shape.rank() == 3);
  CHECK(shape.back() == 2);
  CHECK(shape.ElementCount() == 24);
  CHECK(shape.RowCount() == 12);
  CHECK(ToString(shape) == "[4, 3, 2]");
}

TEST_CASE("shapes of no axis, one axis and empty extents", "[core]") {
  CHECK(Shape().ElementCount() == 1);
  CHECK(ToString(Shape()) == "[]");
  CHECK(Shape({7}).RowCount() == 1);
  CHECK(Shape({0, 5}).ElementCount() == 0);
  CHECK(Shape({5, 0}).RowCount() == 5);
}

TEST_CASE("shapes compare by extents and rank", "[core]") {
  CHECK(Shape({2, 3}) == Shape({2, 3}));
  CHECK_FALSE(Shape({2, 3}) == Shape({3, 2}));
  CHECK_FALSE(Shape({2, 3}) == Shape({2, 3, 1}));
  Shape changed = {2, 3};
  changed[1] = 5;
  CHECK(changed == Shape({2, 5}));
}

TEST_CASE("a shape has at most eight axes", "[core]") {
  const std::vector<std::int64_t> eight(8, 1);
  const std::vector<std::int64_t> nine(9, 1);
  CHECK(Shape(eight).rank() == 8);
  CHECK_THROWS_AS(Shape(nine), ShapeError);
  CHECK_THROWS_WITH(Shape(nine),
                    "[shape] a tensor has at most 8 dimensions; 9 were given; merge some of them");
}

TEST_CASE("elements are counted up to 2^48, and no product overflows", "[core]") {
  const std::int64_t huge = std::int64_t{1} << 62;
  CHECK(Shape({std::int64_t{1} << 24, std::int64_t{1} << 24}).ElementCount() ==
        Shape::kMostElements);
  CHECK_THROWS_AS(Shape({Shape::kMostElements, 2}).ElementCount(), ShapeError);
  CHECK_THROWS_AS(Shape({huge, huge, huge}).ElementCount(), ShapeError);
  CHECK(Shape({huge, huge, 0}).ElementCount() == 0);
}

}  // namespace
}  // namespace frugal

#include "sdk/core/error.h"

#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a complaint is one sentence of its parts", "[core]") {
  CHECK(Describe({"conv1", "3 channels", "4 were given", "change the layer"}) ==
        "[conv1] 3 channels; 4 were given; change the layer");
  CHECK(Describe({"conv1", "3 channels", "", "change the layer"}) ==
        "[conv1] 3 channels; change the layer");
  CHECK(Describe({"conv1", "", "4 were given", ""}) == "[conv1] 4 were given");
  CHECK(Describe({"conv1", "", "", ""}) == "[conv1]");
}

TEST_CASE("every kind of error is an Error with that sentence", "[core]") {
  const Complaint complaint = {"a", "b", "c", "d"};
  CHECK_THROWS_WITH(throw ShapeError(complaint), "[a] b; c; d");
  CHECK_THROWS_AS(throw ConfigError(complaint), Error);
  CHECK_THROWS_AS(throw DataError(complaint), Error);
  CHECK_THROWS_AS(throw WeightFileError(complaint), Error);
  CHECK_THROWS_AS(throw MemoryError(complaint), Error);
  CHECK_THROWS_AS(throw UsageError(complaint), Error);
  CHECK_THROWS_WITH(throw ConfigError("first\nsecond"), "first\nsecond");
}

}  // namespace
}  // namespace frugal

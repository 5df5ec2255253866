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

TEST_CASE("control characters of a name neither end an error's message nor drive a terminal",
          "[core]") {
  const std::string name("a\0b\x1b[2J\x7f", 8);
  CHECK(std::string(UsageError({"x", "'" + name + "' is there", "it is not", ""}).what()) ==
        "[x] 'a?b?[2J?' is there; it is not");
  CHECK(std::string(ConfigError("first\nsecond \r").what()) == "first\nsecond ?");
}

}  // namespace
}  // namespace frugal

#include "sdk/io/json_integer.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("integers of JSON are whole and fit", "[io]") {
  CHECK(JsonInteger(Json::parse("0")) == 0);
  CHECK(JsonInteger(Json::parse("-7")) == -7);
  CHECK(JsonInteger(Json::parse("9223372036854775807")) ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(JsonInteger(Json::parse("-9223372036854775808")) ==
        std::numeric_limits<std::int64_t>::min());
  for (const char* wrong : {"1.5", "1.0", "8e36", "-8e36", "9223372036854775808",
                            "-9223372036854775809", "true", "null", "\"1\"", "[1]", "{}"}) {
    INFO(wrong);
    CHECK_THROWS_AS(JsonInteger(Json::parse(wrong)), nlohmann::json::exception);
  }
}

TEST_CASE("a list of integers of JSON has nothing else", "[io]") {
  CHECK(JsonIntegers(Json::parse("[]")).empty());
  CHECK(JsonIntegers(Json::parse("[3, -1]")) == std::vector<std::int64_t>{3, -1});
  for (const char* wrong : {"[1, 2.5]", "[[1]]", "1", "null", "{\"a\": 1}"}) {
    INFO(wrong);
    CHECK_THROWS_AS(JsonIntegers(Json::parse(wrong)), nlohmann::json::exception);
  }
}

}  // namespace
}  // namespace frugal::testing

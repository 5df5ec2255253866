#include "presets/config/value.h"

#include <limits>

#include "sdk/core/utf8.h"
#include "tests/catch.h"

namespace frugal {

TEST_CASE("Values are written as TOML writes them") {
  CHECK(ToString(Value{}) == "none");
  CHECK(ToString(Value{true}) == "true");
  CHECK(ToString(Value{std::int64_t{-42}}) == "-42");
  CHECK(ToString(Value{3.0}) == "3.0");
  CHECK(ToString(Value{0.1}) == "0.1");
  CHECK(ToString(Value{1e300}) == "1e+300");
  CHECK(ToString(Value{-0.0}) == "-0.0");
  CHECK(ToString(Value{std::numeric_limits<double>::infinity()}) == "inf");
  CHECK(ToString(Value{"a \"b\" \\ \n\t\r\x01\x7F"}) ==
        "\"a \\\"b\\\" \\\\ \\n\\t\\r\\u0001\\u007F\"");
  CHECK(ToString(Value{std::vector<std::int64_t>{}}) == "[]");
  CHECK(ToString(Value{std::vector<std::int64_t>{1, -2}}) == "[1, -2]");
  CHECK(ToString(Value{std::vector<double>{1, 0.5}}) == "[1.0, 0.5]");
  CHECK(ToString(Value{std::vector<std::string>{"a", "b"}}) == "[\"a\", \"b\"]");
}

TEST_CASE("A value is equal only to one of the same type") {
  CHECK(Value{1} == Value{std::int64_t{1}});
  CHECK(Value{1} != Value{1.0});
  CHECK(Value{} == Value{});
  CHECK(Value{"x"} == Value{std::string("x")});
  CHECK(IsNone(Value{}));
  CHECK_FALSE(IsNone(Value{false}));
}

TEST_CASE("A float becomes the double that is written alike") {
  CHECK(ShortestDouble(0.9F) == 0.9);
  CHECK(static_cast<float>(ShortestDouble(0.1F)) == 0.1F);
  CHECK(ShortestDouble(-0.0F) == 0.0);
}

TEST_CASE("Long text is shortened, never inside a character") {
  CHECK(Shorten("short") == "short");
  CHECK(Shorten(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(Shorten(std::string(61, 'x')) == std::string(57, 'x') + "...");
  std::string umlauts = "x";  // 57 bytes would end inside the 29th
  for (int i = 0; i < 40; ++i) umlauts += "\xC3\xA4";
  CHECK(IsUtf8(Shorten(umlauts)));
  CHECK(Shorten("x" + umlauts).size() <= 60);
}

TEST_CASE("UTF-8 is told from other bytes") {
  for (const char* good : {"", "abc", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    INFO(good);
    CHECK(IsUtf8(good));
  }
  for (const char* bad : {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\x80", "\xE2\x82", "\xC3x"}) {
    CHECK_FALSE(IsUtf8(bad));
  }
}

}  // namespace frugal

#include "sdk/core/utf8.h"

#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a shortened text keeps within its bytes and cuts no character", "[core]") {
  CHECK(Shortened("", 3).empty());
  CHECK(Shortened("abcdef", 6) == "abcdef");
  CHECK(Shortened("abcdefg", 6) == "abc...");
  CHECK(Shortened("abcd", 3) == "...");
  const std::string letters = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82zz";  // of 1 to 4 bytes
  for (std::size_t most = 3; most <= letters.size(); ++most) {
    INFO(most);
    const std::string text = Shortened(letters, most);
    CHECK(text.size() <= most);
    CHECK(text.size() + 4 > most);
    CHECK(IsUtf8(text));
  }
}

}  // namespace
}  // namespace frugal

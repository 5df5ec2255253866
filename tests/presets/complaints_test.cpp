#include "presets/config/complaints.h"

#include <algorithm>

#include "tests/catch.h"

namespace frugal {

TEST_CASE("Nothing is thrown where there are no complaints") {
  CHECK_NOTHROW(Complaints().ThrowIfAny());
}

TEST_CASE("Complaints are listed in the order of the file, then command line, then the rest") {
  Complaints complaints;
  complaints.Add({}, {"code", "e", "", ""});
  complaints.Add({"--set a=1", 0, 0}, {"a", "d", "", ""});
  complaints.Add({"f", 2, 1}, {"", "c", "x", "y"});
  complaints.Add({"f", 1, 9}, {"w", "b", "", "z"});
  complaints.Add({"f", 1, 2}, {"w", "a", "", ""});
  CHECK(complaints.size() == 5);
  try {
    complaints.ThrowIfAny();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "f:1:2: [w] a\nf:1:9: [w] b; z\nf:2:1: c; x; y\n--set a=1: [a] d\n[code] e");
  }
}

TEST_CASE("Endless lists of complaints are cut") {
  Complaints complaints;
  for (int i = 1; i <= 250; ++i) complaints.Add({"f", i, 1}, {"w", "wrong", "", ""});
  try {
    complaints.ThrowIfAny();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    CHECK(std::count(text.begin(), text.end(), '\n') == 100);
    CHECK(text.ends_with("\nand 150 more"));
  }
}

}  // namespace frugal

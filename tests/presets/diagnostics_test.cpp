#include "presets/config/diagnostics.h"

#include <algorithm>

#include "tests/catch.h"

namespace frugal {

TEST_CASE("Nothing is thrown where there are no complaints") {
  CHECK_NOTHROW(Diagnostics().ThrowIfAny());
}

TEST_CASE("Complaints are listed in the order of the file, then command line, then the rest") {
  Diagnostics diagnostics;
  diagnostics.Add({}, {"code", "e", "", ""});
  diagnostics.Add({"--set a=1", 0, 0}, {"a", "d", "", ""});
  diagnostics.Add({"f", 2, 1}, {"", "c", "x", "y"});
  diagnostics.Add({"f", 1, 9}, {"w", "b", "", "z"});
  diagnostics.Add({"f", 1, 2}, {"w", "a", "", ""});
  CHECK(diagnostics.size() == 5);
  try {
    diagnostics.ThrowIfAny();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "f:1:2: [w] a\nf:1:9: [w] b; z\nf:2:1: c; x; y\n--set a=1: [a] d\n[code] e");
  }
}

TEST_CASE("Endless lists of complaints are cut") {
  Diagnostics diagnostics;
  for (int i = 1; i <= 250; ++i) diagnostics.Add({"f", i, 1}, {"w", "wrong", "", ""});
  try {
    diagnostics.ThrowIfAny();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    CHECK(std::count(text.begin(), text.end(), '\n') == 100);
    CHECK(text.ends_with("\nand 150 more"));
  }
}

}  // namespace frugal

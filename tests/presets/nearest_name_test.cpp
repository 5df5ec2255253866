#include "presets/config/nearest_name.h"

#include "tests/catch.h"

namespace frugal {

TEST_CASE("Edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("abc", "") == 3);
  CHECK(EditDistance("abc", "abc") == 0);
  CHECK(EditDistance("abc", "abxc") == 1);
  CHECK(EditDistance("abc", "ac") == 1);
  CHECK(EditDistance("abc", "axc") == 1);
  CHECK(EditDistance("abcd", "acbd") == 1);
  CHECK(EditDistance("kitten", "sitting") == 3);
  CHECK(EditDistance("ca", "abc") == 3);  // the restricted form: 2 in the full one
}

TEST_CASE("The nearest name is suggested only if it is near") {
  const std::vector<std::string> names = {"units", "activation", "bias", "ForConvNets"};
  CHECK(NearestName("unit", names) == "units");
  CHECK(NearestName("uints", names) == "units");
  CHECK(NearestName("Activaton", names) == "activation");
  CHECK(NearestName("forconvnets", names) == "ForConvNets");
  CHECK(NearestName("bais", names) == "bias");
  CHECK_FALSE(NearestName("learning_rate", names));
  CHECK_FALSE(NearestName("", names));
  CHECK_FALSE(NearestName("x", {"y"}));
  CHECK_FALSE(NearestName("units", {}));
  CHECK_FALSE(NearestName("units", {""}));
  CHECK_FALSE(NearestName(std::string(1'000'000, 'u'), names));
  CHECK(NearestName("aac", {"aab", "aad"}) == "aab");  // the first of equals
}

TEST_CASE("A suggestion is a question") {
  CHECK(SuggestName("unit", {"units"}) == "did you mean 'units'?");
  CHECK(SuggestName("zebra", {"units"}).empty());
}

}  // namespace frugal

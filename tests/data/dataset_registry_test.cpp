#include "sdk/data/dataset_registry.h"

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

TEST_CASE("images of a program are a row, which [data] knows by name", "[data]") {
  DatasetInfo info = FashionMnist();
  info.name = "my-letters";
  info.classes = 26;
  info.class_names.clear();
  Datasets().Add({.name = "my-letters", .images = info});
  REQUIRE(FindDataset("my_letters") != nullptr);
  CHECK_FALSE(FindDataset("my_letters")->is_of_program());
  CHECK(NamedDataset("my-letters")->classes == 26);
  CHECK(FindDataset("letters") == nullptr);
  CHECK_THROWS_WITH(Datasets().Add({.name = "my-letters", .images = info}),
                    Catch::Contains("there is one called \"my-letters\" already"));
}

}  // namespace
}  // namespace frugal::testing

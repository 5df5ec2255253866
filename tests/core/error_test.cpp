#include "sdk/core/error.h"

#include "sdk/core/utf8.h"
#include "sdk/core/with_place.h"
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
  const Diagnostic diagnostic = {"a", "b", "c", "d"};
  CHECK_THROWS_WITH(throw ShapeError(diagnostic), "[a] b; c; d");
  CHECK_THROWS_AS(throw ConfigError(diagnostic), Error);
  CHECK_THROWS_AS(throw DataError(diagnostic), Error);
  CHECK_THROWS_AS(throw WeightFileError(diagnostic), Error);
  CHECK_THROWS_AS(throw MemoryError(diagnostic), Error);
  CHECK_THROWS_AS(throw UsageError(diagnostic), Error);
  CHECK_THROWS_WITH(throw ConfigError("first\nsecond"), "first\nsecond");
}

TEST_CASE("control characters of a name neither end an error's message nor drive a terminal",
          "[core]") {
  const std::string name("a\0b\x1b[2J\x7f", 8);
  CHECK(std::string(UsageError({"x", "'" + name + "' is there", "it is not", ""}).what()) ==
        "[x] 'a?b?[2J?' is there; it is not");
  CHECK(std::string(ConfigError("first\nsecond \r").what()) == "first\nsecond ?");
}

TEST_CASE("an error keeps its parts, and takes the first place that it is given", "[core]") {
  const SourceLocation near = {"run.toml", 7, 3};
  const SourceLocation far = {"run.toml", 1, 1};
  const auto message = [&](const auto& work) -> std::string {
    try {
      WithPlace(far, work);
    } catch (const ShapeError& error) {  // the kind is what it was
      CHECK(error.diagnostic().required == "b");
      return error.what();
    }
    return "no error";
  };
  const Diagnostic diagnostic = {"a", "b", "c", "d"};
  CHECK(message([&] { throw ShapeError(diagnostic); }) == "run.toml:1:1: [a] b; c; d");
  CHECK(message([&] { throw ShapeError(diagnostic, near); }) == "run.toml:7:3: [a] b; c; d");
  ShapeError renamed(diagnostic, near);
  renamed.Rename("model.layers.2");
  CHECK(renamed.place() == near);
  CHECK(message([&] { throw ShapeError(renamed); }) == "run.toml:7:3: [model.layers.2] b; c; d");
  ConfigError nowhere(diagnostic);
  nowhere.PlaceAt({});
  CHECK(std::string(nowhere.what()) == "[a] b; c; d");
  nowhere.PlaceAt({"--set a=1", 0, 0});
  CHECK(std::string(nowhere.what()) == "--set a=1: [a] b; c; d");
}

TEST_CASE("a list of complaints stays as it is", "[core]") {
  ConfigError list("run.toml:1:1: one\nrun.toml:2:1: two");
  list.PlaceAt({"run.toml", 9, 9});
  list.Rename("model");
  CHECK(std::string(list.what()) == "run.toml:1:1: one\nrun.toml:2:1: two");
}

TEST_CASE("no part of an error floods a terminal", "[core]") {
  const std::string flood(1000000, 'x');
  const std::string message = WeightFileError({flood, flood, flood, flood}).what();
  CHECK(message.size() < 20000);
  CHECK(QuotedName(flood).size() < 200);
  CHECK(QuotedName("short\n\x1b") == "'short?\?'");
}

}  // namespace
}  // namespace frugal

#include "presets/config/override.h"

#include "presets/config/toml_reader.h"
#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

ConfigNode Base() {
  return ParseTomlText("[memory]\nnum_devices = 1\n[[layers]]\nunits = 1\n[[layers]]\nunits = 2\n",
                       "f.toml");
}

ConfigNode With(const std::string& assignment) {
  ConfigNode root = Base();
  ApplyOverride(root, assignment);
  return root;
}

std::string OverrideError(const std::string& assignment) {
  try {
    With(assignment);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("An override replaces what the file says") {
  const ConfigNode root = With("memory.num_devices=2");
  const ConfigNode* node = root.Find("memory")->Find("num_devices");
  CHECK(node->value == Value{2});
  CHECK(root.Find("memory")->children.size() == 1);
  CHECK(node->location.IsCommandLine());
  CHECK(ToString(node->location) == "--set memory.num_devices=2");
}

TEST_CASE("An override makes the tables it needs") {
  const ConfigNode root = With("training.schedule.kind = cosine");
  const ConfigNode* node = root.Find("training")->Find("schedule")->Find("kind");
  REQUIRE(node);
  CHECK(node->value == Value{"cosine"});
  CHECK(root.Find("training")->location.IsCommandLine());
}

TEST_CASE("Values are TOML, or else bare words") {
  const auto value = [](const std::string& text) { return With("a=" + text).Find("a")->value; };
  CHECK(value("3") == Value{3});
  CHECK(value("3.5") == Value{3.5});
  CHECK(value("true") == Value{true});
  CHECK(value("\"x y\"") == Value{"x y"});
  CHECK(value("''") == Value{""});
  CHECK(value("ForConvNets") == Value{"ForConvNets"});
  CHECK(value("../some dir/w.bin") == Value{"../some dir/w.bin"});
  CHECK(value("a=b") == Value{"a=b"});
  CHECK(value("1\nb = 2") == Value{"1\nb = 2"});
  CHECK(With("a=[1, 2]").Find("a")->children.size() == 2);
  CHECK(With("a={b=1}").Find("a")->Find("b")->value == Value{1});
}

TEST_CASE("Items of lists are counted from 0") {
  const ConfigNode root = With("layers.1.units=64");
  CHECK(root.Find("layers")->children[0].Find("units")->value == Value{1});
  CHECK(root.Find("layers")->children[1].Find("units")->value == Value{64});
  CHECK(With("layers.0=5").Find("layers")->children[0].value == Value{5});
}

TEST_CASE("Overrides of another form are refused with a sentence") {
  CHECK(OverrideError("memory") ==
        "--set memory: an override is needed; 'memory' was given; write section.key=value");
  CHECK_FALSE(OverrideError("").empty());
  CHECK_FALSE(OverrideError("=3").empty());
  CHECK_FALSE(OverrideError("a..b=3").empty());
  CHECK_FALSE(OverrideError(".a=3").empty());
  CHECK(OverrideError("a=") ==
        "--set a=: a value is needed after '='; '' was given; write section.key=value");
  CHECK_FALSE(OverrideError("a=[1").empty());
  CHECK_FALSE(OverrideError("a=\"open").empty());
  CHECK(OverrideError("memory.num_devices.x=1") ==
        "--set memory.num_devices.x=1: 'x' must be a key of a table; an integer was given: 1; "
        "check the path before it");
  CHECK(OverrideError("layers.2.units=1") ==
        "--set layers.2.units=1: the path must lead to an item of the list, counted from 0; "
        "'2' was given, and the list has 2 items; add layers in the file");
  CHECK_FALSE(OverrideError("layers.-1.units=1").empty());
  CHECK_FALSE(OverrideError("layers.units=1").empty());
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  CHECK_FALSE(OverrideError(deep + "=1").empty());
}

}  // namespace frugal

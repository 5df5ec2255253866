#include "presets/config/field_reader.h"

#include "presets/config/toml_reader.h"
#include "tests/catch.h"
#include "tests/presets/example_options.h"

namespace frugal {
namespace {

struct Reading {
  ExampleOptions options;
  Origins origins;
  Diagnostics diagnostics;
};

Reading Read(const std::string& text, const std::vector<std::string>& other_keys = {}) {
  Reading reading;
  const ConfigNode root = ParseTomlText("[layer]\n" + text, "f.toml");
  ReadFields(ExampleFields(), &reading.options, *root.Find("layer"), "layer", reading.origins,
             reading.diagnostics, other_keys);
  return reading;
}

std::vector<std::string> LinesOf(const std::string& text) {
  return Read("units = 1\n" + text).diagnostics.Lines();
}

}  // namespace

TEST_CASE("Keys are read into their members, and their places noted") {
  const Reading reading = Read(
      "units = 64\nrate = 0.5\nkernel = 5\npads = [1, 2]\ntags = ['red']\nactivation = 'gelu'\n"
      "inner.depth = 3\n[layer.extra]\nscale = 2\n");
  CHECK(reading.diagnostics.empty());
  ExampleOptions expected;
  expected.units = 64;
  expected.rate = 0.5;
  expected.kernel = {5};
  expected.pads = {1, 2};
  expected.tags = {"red"};
  expected.activation = ExampleActivation::kGelu;
  expected.inner.depth = 3;
  expected.extra = ExampleInner{.scale = 2.0};
  CHECK(reading.options == expected);
  CHECK(ToString(reading.origins.Of("layer.units")) == "f.toml:2:1");
  CHECK(ToString(reading.origins.Of("layer.inner.depth")) == "f.toml:8:7");
  CHECK(ToString(reading.origins.Of("layer.extra.scale")) == "f.toml:10:1");
  CHECK(ToString(reading.origins.Of("layer.bias")) == "default");
}

TEST_CASE("The word none makes optional fields absent, and only those") {
  const Reading reading = Read("units = 1\nseed = 'none'\nfile = 'none'\nextra = 'none'\n");
  CHECK(reading.diagnostics.empty());
  CHECK_FALSE(reading.options.seed.has_value());
  CHECK_FALSE(reading.options.file.has_value());
  CHECK(LinesOf("rate = 'none'").size() == 1);
  CHECK(LinesOf("inner = 'none'").size() == 1);
  CHECK(Read("units = 1\nname = 'none'").options.name == "none");
}

TEST_CASE("Unknown keys are reported with the nearest known name") {
  CHECK(LinesOf("activatoin = 'relu'\n[layer.inner]\ndept = 1\nfoo = 1") ==
        std::vector<std::string>{
            "f.toml:3:1: [layer] unknown key 'activatoin'; did you mean 'activation'?",
            "f.toml:5:1: [layer.inner] unknown key 'dept'; did you mean 'depth'?",
            "f.toml:6:1: [layer.inner] unknown key 'foo'; known here: depth, scale"});
  const Reading other = Read("units = 1\nkind = 'dense'\nkin = 1", {"kind"});
  CHECK(other.diagnostics.Lines() ==
        std::vector<std::string>{"f.toml:4:1: [layer] unknown key 'kin'; did you mean 'kind'?"});
}

TEST_CASE("Wrong types point at what was written") {
  CHECK(LinesOf("bias = 'yes'") ==
        std::vector<std::string>{
            "f.toml:3:8: [layer] 'bias' must be true or false; a string was given: 'yes'"});
  CHECK(LinesOf("pads = [1, 2.5]") ==
        std::vector<std::string>{"f.toml:3:12: [layer] 'pads' must be a list of integers >= 0; "
                                 "a number was given: 2.5"});
  CHECK(Read("units = 0x00").diagnostics.Lines() ==
        std::vector<std::string>{"f.toml:2:9: [layer] 'units' must be an integer >= 1; "
                                 "0x00 was given"});
  CHECK(LinesOf("pads = 3") ==
        std::vector<std::string>{"f.toml:3:8: [layer] 'pads' must be a list of integers >= 0; "
                                 "an integer was given: 3"});
  CHECK(LinesOf("name = [1]") ==
        std::vector<std::string>{
            "f.toml:3:8: [layer] 'name' must be a string; a list was given: [1]"});
  CHECK(LinesOf("rate = {a = 1}") ==
        std::vector<std::string>{
            "f.toml:3:8: [layer] 'rate' must be a number > 0 and < 1; a table was given"});
  CHECK(LinesOf("extra = 3") ==
        std::vector<std::string>{
            "f.toml:3:9: [layer.extra] must be a table; an integer was given: 3"});
}

TEST_CASE("What is wrong leaves its field as it was") {
  const Reading reading = Read("units = 0\nextra = 3\nrate = 2.0\n");
  CHECK(reading.diagnostics.size() == 3);
  CHECK(reading.options == ExampleOptions{});
  CHECK(reading.origins.Of("layer.units").kind == OriginKind::kDefault);
}

TEST_CASE("A missing required key is reported at its table") {
  CHECK(Read("").diagnostics.Lines() ==
        std::vector<std::string>{"f.toml:1:1: [layer] key 'units' is required; it is missing; "
                                 "add units = <an integer >= 1>"});
}

TEST_CASE("A section that is no table is one complaint") {
  const ConfigNode root = ParseTomlText("layer = [3]", "f.toml");
  ExampleOptions options;
  Origins origins;
  Diagnostics diagnostics;
  ReadFields(ExampleFields(), &options, *root.Find("layer"), "layer", origins, diagnostics);
  CHECK(diagnostics.Lines() ==
        std::vector<std::string>{"f.toml:1:9: [layer] must be a table; a list was given: [3]"});
}

TEST_CASE("Keys of the whole file are checked alike") {
  Diagnostics diagnostics;
  CheckKeys(ParseTomlText("[memroy]\n[data]\n", "f.toml"), {"memory", "data"}, "", diagnostics);
  CHECK(diagnostics.Lines() ==
        std::vector<std::string>{"f.toml:1:2: unknown key 'memroy'; did you mean 'memory'?"});
}

}  // namespace frugal

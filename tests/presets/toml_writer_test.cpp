#include "presets/config/toml_writer.h"

#include <cmath>
#include <random>

#include "presets/config/field_reader.h"
#include "presets/config/toml_reader.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/presets/example_options.h"

namespace frugal {
namespace {

ExampleOptions RoundTrip(const ExampleOptions& options) {
  const std::string text = WriteFields(ExampleFields(), &options, "layer");
  INFO(text);
  ExampleOptions read;
  Origins origins;
  Diagnostics diagnostics;
  const ConfigNode root = ParseTomlText(text, "text");
  ReadFields(ExampleFields(), &read, *root.Find("layer"), "layer", origins, diagnostics);
  CHECK(diagnostics.Lines().empty());
  return read;
}

}  // namespace

TEST_CASE("Fields are written as a table, tables inside it last") {
  ExampleOptions options;
  options.units = 3;
  options.seed.reset();
  options.extra = ExampleInner{.depth = 2, .scale = {}};
  CHECK(WriteFields(ExampleFields(), &options, "layer") ==
        "[layer]\nunits = 3\nsmall = 7\nbias = true\nrate = 0.1\nmomentum = 0.9\n"
        "name = \"dense\"\nseed = \"none\"\nkernel = [3, 3]\ntags = []\nactivation = \"none\"\n"
        "\n[layer.inner]\ndepth = 1\nscale = 0.5\n"
        "\n[layer.extra]\ndepth = 2\nscale = \"none\"\n");
  const FieldTable inner = ExampleFields().Find("inner")->sub->table;
  CHECK(WriteFields(inner, &options.inner, "x", {.with_docs = true, .with_header = false}) ==
        "# Depth.\ndepth = 1\n# Scale.\nscale = 0.5\n");
}

TEST_CASE("What is written reads back equal") {
  ExampleOptions options;
  options.units = 1;
  CHECK(RoundTrip(options) == options);
  options.name = "quote \" slash \\ line \n tab \t nul-like \x01 \xE2\x82\xAC # [x]";
  options.file = "";
  options.seed.reset();
  options.tags = {"red", "green"};
  options.last = ExampleActivation::kGelu;
  options.momentum = 1e-30F;
  options.rate = 0.1 + 0.2;
  options.inner.scale = -1e300;
  options.extra = ExampleInner{.depth = 9, .scale = {}};
  CHECK(RoundTrip(options) == options);
}

TEST_CASE("Random numbers read back bit for bit") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-300, 300);
  for (int i = 0; i < 200; ++i) {
    ExampleOptions options;
    options.units = std::int64_t{1} + static_cast<std::int64_t>(random());
    options.seed = static_cast<std::int64_t>((std::uint64_t{random()} << 32) | random());
    options.inner.scale = std::pow(10.0, exponent(random)) * (random() % 2 == 0 ? 1 : -1);
    options.momentum = static_cast<float>(random()) * 1e-9F;
    CHECK(RoundTrip(options) == options);
  }
}

TEST_CASE("Text that TOML cannot hold is refused, not garbled") {
  ExampleOptions options;
  options.name = "\xFF";
  CHECK_THROWS_WITH(WriteFields(ExampleFields(), &options, "layer"),
                    "[layer] 'name' must be UTF-8 to be written as TOML; other bytes were given; "
                    "rename it");
  options.name = "x";
  options.file = "none";
  CHECK_THROWS_AS(WriteFields(ExampleFields(), &options, "layer"), ConfigError);
}

}  // namespace frugal

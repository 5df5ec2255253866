#include "presets/config/resolved.h"

#include "tests/catch.h"
#include "tests/presets/example_options.h"

namespace frugal {

TEST_CASE("Origins are told in words") {
  const SourceLocation place = {"train.toml", 7, 1};
  CHECK(ToString(Origin::Default()) == "default");
  CHECK(ToString(Origin::Preset("ForConvNets")) == "preset ForConvNets");
  CHECK(ToString(Origin::At(place)) == "train.toml:7:1");
  CHECK(ShortText(Origin::At(place)) == "train.toml:7");
  CHECK(ToString(Origin::At({"--set a=1", 0, 0})) == "--set");
  CHECK(ShortText(Origin::Code()) == "code");
  CHECK_FALSE(Origin::Preset("x").IsExplicit());
  CHECK(Origin::Code().IsExplicit());
}

TEST_CASE("Every value is listed with its origin") {
  ExampleOptions options;
  Origins origins;
  origins.Set("layer.inner.depth", Origin::At({"f.toml", 3, 4}));
  const auto values = Resolve(ExampleFields(), &options, "layer", origins);
  CHECK(values.size() == 16);  // 13 plain fields, 2 in the inner table, 1 absent table
  const std::string text = ResolvedText(values);
  CHECK(text.find("[layer]\nunits = 0 (default)\n") == 0);
  CHECK(text.find("\ninner.depth = 1 (f.toml:3)\n") != std::string::npos);
  CHECK(text.find("\nextra = none (default)\n") != std::string::npos);
  CHECK(ResolvedText({}).empty());
  CHECK(ResolvedText({{"a", "x", 1, {}}, {"b", "y", 2, {}}}) ==
        "[a]\nx = 1 (default)\n\n[b]\ny = 2 (default)\n");
}

TEST_CASE("Changes in code are marked, and nothing else") {
  const ExampleOptions before;
  ExampleOptions after = before;
  after.units = 5;
  after.extra.emplace();
  Origins origins;
  MarkChanges(ExampleFields(), &before, &after, "layer", Origin::Code(), origins);
  CHECK(origins.Of("layer.units").kind == OriginKind::kCode);
  CHECK(origins.Of("layer.extra.depth").kind == OriginKind::kCode);
  CHECK(origins.Of("layer.bias").kind == OriginKind::kDefault);
  MarkAll(ExampleFields(), &after, "layer", Origin::Code(), origins);
  CHECK(origins.Of("layer.bias").kind == OriginKind::kCode);
}

}  // namespace frugal

#include "presets/config/field.h"

#include <cmath>

#include "presets/config/field_check.h"
#include "presets/config/reference_text.h"
#include "presets/config/resolved.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/presets/example_options.h"

namespace frugal {
namespace {

std::string Verdict(const std::string& name, const Value& value) {
  const FieldTable table = ExampleFields();
  const auto diagnostic = CheckValue(*table.Find(name), value);
  if (!diagnostic) return "";
  std::string text = diagnostic->required + "; " + diagnostic->given;
  return diagnostic->advice.empty() ? text : text + "; " + diagnostic->advice;
}

}  // namespace

TEST_CASE("A field's kind follows from its member") {
  const FieldTable table = ExampleFields();
  CHECK(table.Find("units")->kind == ValueKind::kInt);
  CHECK(table.Find("units")->required);
  CHECK(table.Find("small")->kind == ValueKind::kInt);
  CHECK(table.Find("bias")->kind == ValueKind::kBool);
  CHECK(table.Find("rate")->kind == ValueKind::kReal);
  CHECK(table.Find("momentum")->kind == ValueKind::kReal);
  CHECK(table.Find("name")->kind == ValueKind::kText);
  CHECK_FALSE(table.Find("name")->optional);
  CHECK(table.Find("file")->kind == ValueKind::kText);
  CHECK(table.Find("file")->optional);
  CHECK(table.Find("kernel")->kind == ValueKind::kIntList);
  CHECK(table.Find("pads")->optional);
  CHECK(table.Find("tags")->kind == ValueKind::kTextList);
  CHECK(table.Find("activation")->kind == ValueKind::kChoice);
  CHECK(table.Find("activation")->choices == std::vector<std::string>{"none", "relu", "gelu"});
  CHECK(table.Find("last")->optional);
  CHECK(table.Find("inner")->kind == ValueKind::kTable);
  CHECK(table.Find("extra")->optional);
  CHECK(table.Find("no such") == nullptr);
}

TEST_CASE("Fields get and set their members") {
  const FieldTable table = ExampleFields();
  ExampleOptions options;
  const auto set = [&](const char* name, const Value& value) {
    REQUIRE_FALSE(CheckValue(*table.Find(name), value));
    table.Find(name)->set(&options, value);
    return table.Find(name)->get(&options) == value;
  };
  CHECK(set("units", 64));
  CHECK(options.units == 64);
  CHECK(set("small", -5));
  CHECK(options.small == -5);
  CHECK(set("rate", 0.25));
  CHECK(set("momentum", 0.3));
  CHECK(options.momentum == 0.3F);
  CHECK(set("file", "x.bin"));
  CHECK(set("file", Value{}));
  CHECK_FALSE(options.file.has_value());
  CHECK(set("seed", Value{}));
  CHECK(set("pads", std::vector<std::int64_t>{1, 2}));
  CHECK(set("tags", std::vector<std::string>{"red"}));
  CHECK(set("activation", "gelu"));
  CHECK(options.activation == ExampleActivation::kGelu);
  CHECK(set("last", "relu"));
  CHECK(set("last", Value{}));
  CHECK_FALSE(options.last.has_value());
  table.Find("rate")->set(&options, 1);
  CHECK(options.rate == 1.0);  // an integer is a number
}

TEST_CASE("Tables inside a struct are reached, made and cleared") {
  const FieldTable table = ExampleFields();
  ExampleOptions options;
  const SubTable& extra = *table.Find("extra")->sub;
  CHECK(extra.find(&options) == nullptr);
  SetByName(table, &options, "extra.depth", 4);
  REQUIRE(options.extra.has_value());
  CHECK(options.extra->depth == 4);
  CHECK(extra.find(&options) == &*options.extra);
  extra.clear(&options);
  CHECK_FALSE(options.extra.has_value());
  SetByName(table, &options, "inner.depth", 5);
  CHECK(options.inner.depth == 5);
  CHECK_THROWS_AS(SetByName(table, &options, "inner", 5), UsageError);
  CHECK_THROWS_AS(SetByName(table, &options, "units.x", 5), UsageError);
  CHECK_THROWS_AS(SetByName(table, &options, "nothing", 5), UsageError);
}

TEST_CASE("Values are checked for type, range, number of items and choice") {
  CHECK(Verdict("units", 1).empty());
  CHECK(Verdict("units", 0) == "'units' must be an integer >= 1; 0 was given");
  CHECK(Verdict("units", 3.0) == "'units' must be an integer >= 1; a number was given: 3.0");
  CHECK(Verdict("units", Value{}) == "'units' must be an integer >= 1; none was given");
  CHECK(Verdict("bias", 1) == "'bias' must be true or false; an integer was given: 1");
  CHECK(Verdict("rate", 0) == "'rate' must be a number > 0 and < 1; 0 was given");
  CHECK(Verdict("rate", 1.0) == "'rate' must be a number > 0 and < 1; 1.0 was given");
  CHECK(Verdict("rate", std::nan("")) ==
        "'rate' must be a finite number > 0 and < 1; nan was given");
  CHECK(Verdict("momentum", INFINITY) == "'momentum' must be a finite number; inf was given");
  CHECK_FALSE(Verdict("momentum", 1e200).empty());  // no float
  CHECK(Verdict("small", std::int64_t{1} << 40) ==
        "'small' must be >= -2147483648 and <= 2147483647; 1099511627776 was given");
  CHECK(Verdict("file", std::string("w\0x", 3)) ==
        "'file' must have no NUL character; \"w\\u0000x\" was given; the system would end a path "
        "there");
  CHECK_FALSE(Verdict("tags", std::vector<std::string>{std::string(1, '\0')}).empty());
  CHECK(Verdict("name", true) == "'name' must be a string; a boolean was given: true");
  CHECK(Verdict("kernel", std::vector<std::int64_t>{1, 2, 3}) ==
        "'kernel' must be a number or a list of 1 to 2 integers >= 1; [1, 2, 3] was given");
  CHECK_FALSE(Verdict("kernel", std::vector<std::int64_t>{}).empty());
  CHECK_FALSE(Verdict("kernel", std::vector<std::int64_t>{1, 0}).empty());
  CHECK(Verdict("pads", std::vector<std::int64_t>{}).empty());
  CHECK(Verdict("tags", std::vector<std::string>{"red", "gren"}) ==
        "'tags' must be a list of: red, green; \"gren\" was given; did you mean 'green'?");
  CHECK(Verdict("activation", "Relu") ==
        "'activation' must be one of none, relu, gelu; \"Relu\" was given; did you mean 'relu'?");
}

TEST_CASE("A struct filled in code is checked at every depth") {
  ExampleOptions options;
  options.units = 0;
  options.activation = static_cast<ExampleActivation>(99);
  options.extra = ExampleInner{.depth = 10};
  const auto found = CheckFields(ExampleFields(), &options, "layer");
  REQUIRE(found.size() == 3);
  CHECK(Describe(found[0]) == "[layer] 'units' must be an integer >= 1; 0 was given");
  CHECK(Describe(found[1]) ==
        "[layer] 'activation' must be one of none, relu, gelu; \"\" was given");
  CHECK(Describe(found[2]) ==
        "[layer.extra] 'depth' must be an integer >= 1 and <= 9; 10 was given");
}

TEST_CASE("The reference lists every field with type, default and documentation") {
  const std::string text = ReferenceText(ExampleFields());
  CHECK(text.find("| `units` | an integer >= 1 | required | Features. |\n") != std::string::npos);
  CHECK(text.find("| `seed` | an integer, in beans; or none | `3` | A seed. |\n") !=
        std::string::npos);
  CHECK(text.find("| `momentum` | a number | `0.9` |") != std::string::npos);
  CHECK(text.find("| `name` | a string | `\"dense\"` | A \\| name. |\n") != std::string::npos);
  CHECK(text.find("| `extra` | a table; or none | none |") != std::string::npos);
  CHECK(text.find("| `extra.depth` | an integer >= 1 and <= 9 | `1` |") != std::string::npos);
}

}  // namespace frugal

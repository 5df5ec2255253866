#include "presets/config/json_schema.h"

#include <nlohmann/json.hpp>

#include "presets/memory_fields.h"
#include "presets/memory_reader.h"
#include "tests/catch.h"
#include "tests/presets/example_options.h"

namespace frugal {

using Json = nlohmann::json;

TEST_CASE("The schema of a table says what its fields say") {
  const Json schema = Json::parse(JsonSchemaOf(ExampleFields()));
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == Json::array({"units"}));
  const Json& fields = schema["properties"];
  CHECK(fields.size() == 15);
  CHECK(fields["units"] ==
        Json({{"type", "integer"}, {"minimum", 1}, {"description", "Features."}}));
  CHECK(fields["rate"]["exclusiveMinimum"] == 0.0);
  CHECK(fields["rate"]["exclusiveMaximum"] == 1.0);
  CHECK(fields["rate"]["default"] == 0.1);
  CHECK(fields["seed"]["anyOf"][1]["const"] == "none");
  CHECK(fields["seed"]["default"] == 3);
  CHECK_FALSE(fields["file"].contains("default"));
  CHECK(fields["kernel"]["anyOf"][0]["type"] == "integer");
  CHECK(fields["kernel"]["anyOf"][1]["maxItems"] == 2);
  CHECK(fields["tags"]["items"]["enum"] == Json::array({"red", "green"}));
  CHECK(fields["activation"]["enum"] == Json::array({"none", "relu", "gelu"}));
  CHECK(fields["inner"]["properties"]["depth"]["maximum"] == 9);
}

TEST_CASE("Sections compose into the schema of a file") {
  const FieldTable sample = ExampleFields();
  const FieldTable inner = sample.Find("inner")->sub->table;
  const Json schema = Json::parse(
      JsonSchemaOf("frugal", {{.path = "model.layers",
                               .doc = "The layers.",
                               .is_list = true,
                               .selector = "kind",
                               .variants = {{"dense", &sample}, {"residual", nullptr, {"layers"}}}},
                              {.path = "model", .doc = "The model.", .fields = &inner},
                              {.path = "memory",
                               .doc = "The memory policy.",
                               .fields = &MemoryFields(),
                               .other_fields = {PresetField()}}}));
  const Json& model = schema["properties"]["model"];
  CHECK(model["properties"]["depth"]["minimum"] == 1);
  CHECK(model["properties"]["layers"]["items"]["$ref"] == "#/$defs/model.layers");
  const Json& choices = schema["$defs"]["model.layers"]["oneOf"];
  REQUIRE(choices.size() == 2);
  CHECK(choices[0]["properties"]["kind"]["const"] == "dense");
  CHECK(choices[0]["required"] == Json::array({"kind", "units"}));
  CHECK(choices[1]["properties"]["layers"]["items"]["$ref"] == "#/$defs/model.layers");
  const Json& memory = schema["properties"]["memory"];
  CHECK(memory["description"] == "The memory policy.");
  CHECK(memory["properties"].size() == MemoryFields().fields.size() + 1);
  CHECK(memory["properties"]["preset"]["anyOf"][0]["enum"].size() == 9);
  CHECK(memory["properties"]["tensor_pool_options"]["anyOf"][0]["properties"].size() == 5);
}

}  // namespace frugal

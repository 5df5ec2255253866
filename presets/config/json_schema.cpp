#include "presets/config/json_schema.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "presets/config/memory_budget.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";

Json JsonOf(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return nullptr;
        else
          return held;
      },
      value);
}

void AddBounds(const Range& range, Json& schema) {
  const auto number = [&schema](double bound) {
    const bool integer = schema["type"] == "integer" && bound > -9e15 && bound < 9e15;
    return integer ? Json(static_cast<std::int64_t>(bound)) : Json(bound);
  };
  if (range.min) schema[range.min_exclusive ? "exclusiveMinimum" : "minimum"] = number(*range.min);
  if (range.max) schema[range.max_exclusive ? "exclusiveMaximum" : "maximum"] = number(*range.max);
}

// The bounds of the field, or where it has none, what an integer of its member's size can hold.
Range BoundsOf(const Field& field) {
  Range range = field.range;
  if (field.kind != ValueKind::kInt) return range;
  if (!range.min) range.min = field.storage.min;
  if (!range.max) range.max = field.storage.max;
  return range;
}

Json ItemSchema(const Field& field, const char* type) {
  Json schema = {{"type", type}};
  AddBounds(BoundsOf(field), schema);
  if (!field.choices.empty()) schema["enum"] = field.choices;
  return schema;
}

Json ListSchema(const Field& field, const char* item_type) {
  Json schema = {{"type", "array"}, {"items", ItemSchema(field, item_type)}};
  if (field.min_items > 0) schema["minItems"] = field.min_items;
  if (field.max_items != std::numeric_limits<std::size_t>::max()) {
    schema["maxItems"] = field.max_items;
  }
  if (!field.single_ok) return schema;
  return {{"anyOf", Json::array({ItemSchema(field, item_type), schema})}};
}

Json TextSchema(const Field& field) {
  Json schema = ItemSchema(field, "string");
  if (field.other_texts.empty()) return schema;
  const Json others = {{"type", "string"}, {"pattern", field.other_texts}};
  return {{"anyOf", Json::array({schema, others})}};
}

Json TableSchema(const FieldTable& table);

Json TypeSchema(const Field& field) {
  switch (field.kind) {
    case ValueKind::kBool:
      return ItemSchema(field, "boolean");
    case ValueKind::kInt:
      return ItemSchema(field, "integer");
    case ValueKind::kReal:
      return ItemSchema(field, "number");
    case ValueKind::kAmount:
      return {{"anyOf", Json::array({ItemSchema(field, "integer"),
                                     {{"type", "string"}, {"pattern", kPercentPattern}}})}};
    case ValueKind::kText:
    case ValueKind::kChoice:
      return TextSchema(field);
    case ValueKind::kIntList:
      return ListSchema(field, "integer");
    case ValueKind::kRealList:
      return ListSchema(field, "number");
    case ValueKind::kTextList:
      return ListSchema(field, "string");
    case ValueKind::kTable:
      return TableSchema(field.sub->table);
  }
  return {};
}

Json FieldSchema(const Field& field, const void* defaults) {
  Json schema = TypeSchema(field);
  if (field.optional) schema = {{"anyOf", Json::array({schema, {{"const", "none"}}})}};
  schema["description"] = field.doc;
  const bool has_default = defaults && field.get && !field.required;
  if (has_default && !IsNone(field.get(defaults))) schema["default"] = JsonOf(field.get(defaults));
  return schema;
}

void AddFields(const std::vector<Field>& fields, const void* defaults, Json& schema) {
  for (const Field& field : fields) {
    schema["properties"][field.name] = FieldSchema(field, defaults);
    if (field.required) schema["required"].push_back(field.name);
  }
}

Json EmptyTable() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

Json TableSchema(const FieldTable& table) {
  Json schema = EmptyTable();
  AddFields(table.fields, table.defaults.get(), schema);
  return schema;
}

Json VariantSchema(const SchemaSection& section, const SchemaVariant& variant) {
  Json schema = EmptyTable();
  schema["properties"][section.selector] = {{"const", variant.name}};
  schema["required"].push_back(section.selector);
  AddFields(section.other_fields, nullptr, schema);
  if (section.fields) AddFields(section.fields->fields, section.fields->defaults.get(), schema);
  if (variant.fields) AddFields(variant.fields->fields, variant.fields->defaults.get(), schema);
  for (const std::string& key : variant.nested_lists) {
    schema["properties"][key] = {{"type", "array"},
                                 {"items", {{"$ref", "#/$defs/" + section.path}}}};
  }
  return schema;
}

std::string FormPath(const SchemaSection& section, const SchemaForm& form) {
  return section.path + "." + section.inner->key + "." + form.name;
}

Json Required(const std::string& key) { return {{"required", Json::array({key})}}; }

// The table itself may be any; a condition for each form says which one it is.
void AddInnerTable(const SchemaSection& section, Json& schema) {
  const SchemaInnerTable& inner = *section.inner;
  schema["properties"][inner.key] = {{"type", "object"}, {"description", inner.doc}};
  std::set<std::string> asking;
  for (const SchemaForm& form : inner.forms) {
    const Json then = {
        {"properties", {{inner.key, {{"$ref", "#/$defs/" + FormPath(section, form)}}}}}};
    for (const SchemaForm::Asking& by : form.asked_by) {
      if (by.texts.empty()) continue;
      asking.insert(by.key);
      Json condition = Required(by.key);
      condition["properties"] = {{by.key, {{"enum", by.texts}}}};
      schema["allOf"].push_back({{"if", condition}, {"then", then}});
    }
  }
  Json one_of_them = Json::array();
  for (const std::string& key : asking) one_of_them.push_back(Required(key));
  schema["dependentSchemas"] = {{inner.key, {{"anyOf", one_of_them}}}};
}

Json OneTableSchema(const SchemaSection& section) {
  if (section.variants.empty()) {
    Json schema = section.fields ? TableSchema(*section.fields) : EmptyTable();
    AddFields(section.other_fields, nullptr, schema);
    if (section.inner) AddInnerTable(section, schema);
    return schema;
  }
  Json choices = Json::array();
  for (const SchemaVariant& variant : section.variants) {
    choices.push_back(VariantSchema(section, variant));
  }
  return {{"oneOf", choices}};
}

// Puts a section's schema where its dotted path says, making the tables on the way.
void PlaceAt(const std::string& path, Json schema, Json& root) {
  const std::size_t dot = path.find('.');
  const std::string first = path.substr(0, dot);
  if (dot == std::string::npos) {
    Json& slot = root["properties"][first];
    // A section inside this one may have come first.
    if (slot.is_object() && schema.contains("properties")) {
      schema["properties"].update(slot["properties"]);
    }
    slot = std::move(schema);
    return;
  }
  Json& inner = root["properties"][first];
  if (inner.is_null()) inner = EmptyTable();
  PlaceAt(path.substr(dot + 1), std::move(schema), inner);
}

}  // namespace

std::string JsonSchemaOf(const std::string& title, const std::vector<SchemaSection>& sections) {
  Json root = {{"$schema", kDialect}, {"title", title}};
  root.update(EmptyTable());
  for (const SchemaSection& section : sections) {
    Json schema = OneTableSchema(section);
    if (section.is_list) {
      root["$defs"][section.path] = std::move(schema);
      schema = {{"type", "array"}, {"items", {{"$ref", "#/$defs/" + section.path}}}};
    }
    if (section.inner) {
      for (const SchemaForm& form : section.inner->forms) {
        root["$defs"][FormPath(section, form)] = TableSchema(*form.fields);
      }
    }
    if (!section.doc.empty()) schema["description"] = section.doc;
    PlaceAt(section.path, std::move(schema), root);
  }
  return root.dump(2) + "\n";
}

std::string JsonSchemaOf(const FieldTable& table) {
  Json root = {{"$schema", kDialect}, {"title", table.name}};
  root.update(TableSchema(table));
  return root.dump(2) + "\n";
}

}  // namespace frugal

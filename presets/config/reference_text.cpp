#include "presets/config/reference_text.h"

namespace frugal {
namespace {

std::string Cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");  // a bar would end the cell
  }
  return text;
}

std::string TypeText(const Field& field) {
  std::string text = DescribeType(field);
  if (!field.unit.empty()) text += ", in " + field.unit;
  return field.optional ? text + "; or none" : text;
}

std::string DefaultText(const Field& field, const void* defaults) {
  if (field.required) return "required";
  if (field.sub) return field.sub->find(defaults) ? "" : "none";
  return "`" + ToString(field.get(defaults)) + "`";
}

void AddRows(const FieldTable& table, const std::string& prefix, std::string& text) {
  for (const Field& field : table.fields) {
    text += "| `" + prefix + field.name + "` | " + Cell(TypeText(field)) + " | " +
            Cell(DefaultText(field, table.defaults.get())) + " | " + Cell(field.doc) + " |\n";
    if (field.sub) AddRows(field.sub->table, prefix + field.name + ".", text);
  }
}

}  // namespace

std::string ReferenceText(const FieldTable& table) {
  std::string text = "| field | type | default | what it does |\n|---|---|---|---|\n";
  AddRows(table, "", text);
  return text;
}

}  // namespace frugal

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
  if (field.sub) return field.sub->find(defaults) || !field.optional ? "" : "none";
  return ToString(field.get(defaults));
}

void AddRows(const FieldTable& table, const std::string& prefix, std::vector<ReferenceRow>& rows) {
  for (const Field& field : table.fields) {
    rows.push_back({.name = prefix + field.name,
                    .type = TypeText(field),
                    .value = DefaultText(field, table.defaults.get()),
                    .field = field});
    if (field.sub) AddRows(field.sub->table, prefix + field.name + ".", rows);
  }
}

// Values stand as code; words about them do not.
std::string DefaultCell(const ReferenceRow& row) {
  const bool is_value = !row.field.required && !row.field.sub && !row.value.empty();
  return is_value ? "`" + row.value + "`" : row.value;
}

}  // namespace

std::vector<ReferenceRow> ReferenceRows(const FieldTable& table) {
  std::vector<ReferenceRow> rows;
  AddRows(table, "", rows);
  return rows;
}

ReferenceRow RowWithoutDefault(const Field& field) {
  return {.name = field.name, .type = TypeText(field), .value = "", .field = field};
}

std::string ReferenceText(const std::vector<ReferenceRow>& rows) {
  std::string text = "| field | type | default | what it does |\n|---|---|---|---|\n";
  for (const ReferenceRow& row : rows) {
    text += "| `" + row.name + "` | " + Cell(row.type) + " | " + Cell(DefaultCell(row)) + " | " +
            Cell(row.field.doc) + " |\n";
  }
  return text;
}

std::string ReferenceText(const FieldTable& table) { return ReferenceText(ReferenceRows(table)); }

}  // namespace frugal

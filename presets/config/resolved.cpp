#include "presets/config/resolved.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

void AddFlat(const FieldTable& table, const void* object, const std::string& prefix,
             std::vector<FlatField>& rows) {
  for (const Field& field : table.fields) {
    const std::string name = prefix + field.name;
    if (!field.sub) {
      rows.push_back({name, field.get(object), &field});
    } else if (const void* inner = field.sub->find(object)) {
      AddFlat(field.sub->table, inner, name + ".", rows);
    } else if (field.optional) {
      rows.push_back({name, Value{}, &field});
    }
  }
}

}  // namespace

std::vector<FlatField> Flatten(const FieldTable& table, const void* object) {
  std::vector<FlatField> rows;
  AddFlat(table, object, "", rows);
  return rows;
}

std::vector<ResolvedValue> Resolve(const FieldTable& table, const void* object,
                                   const std::string& path, const Origins& origins) {
  std::vector<ResolvedValue> values;
  for (FlatField& row : Flatten(table, object)) {
    const Origin& origin = origins.Of(path + "." + row.name);
    values.push_back({path, std::move(row.name), std::move(row.value), origin});
  }
  return values;
}

std::string ResolvedText(const std::vector<ResolvedValue>& values) {
  std::string text;
  const std::string* section = nullptr;
  for (const ResolvedValue& value : values) {
    if (!section || *section != value.section) {
      text += (section ? "\n[" : "[") + value.section + "]\n";
    }
    section = &value.section;
    text += value.name + " = " + ToString(value.value) + " (" + ShortText(value.origin) + ")\n";
  }
  return text;
}

void MarkChanges(const FieldTable& table, const void* before, const void* after,
                 const std::string& path, const Origin& origin, Origins& origins) {
  const std::vector<FlatField> old_rows = Flatten(table, before);
  for (const FlatField& row : Flatten(table, after)) {
    const bool same =
        std::any_of(old_rows.begin(), old_rows.end(), [&row](const FlatField& old_row) {
          return old_row.name == row.name && old_row.value == row.value;
        });
    if (!same) origins.Set(path + "." + row.name, origin);
  }
}

void MarkAll(const FieldTable& table, const void* object, const std::string& path,
             const Origin& origin, Origins& origins) {
  for (const FlatField& row : Flatten(table, object)) origins.Set(path + "." + row.name, origin);
}

void SetByName(const FieldTable& table, void* object, std::string_view dotted_name,
               const Value& value) {
  const std::size_t dot = dotted_name.find('.');
  const Field* field = table.Find(dotted_name.substr(0, dot));
  if (!field || (dot == std::string_view::npos) != (field->sub == nullptr)) {
    throw UsageError({table.name, "a field of the table is needed",
                      "'" + std::string(dotted_name) + "' was given", ""});
  }
  if (!field->sub) return field->set(object, value);
  SetByName(field->sub->table, field->sub->ensure(object), dotted_name.substr(dot + 1), value);
}

}  // namespace frugal

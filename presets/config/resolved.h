#pragma once

#include <string>
#include <vector>

#include "presets/config/field.h"
#include "presets/config/origins.h"

namespace frugal {

// One field of a struct, with the fields of tables inside it in line. A table that may be none
// and is absent is one row without a value; others that are absent do not count.
struct FlatField {
  std::string name;  // "checkpoint_every_n_layers", "tensor_pool_options.enabled"
  Value value;
  const Field* field;  // of the table that was given to Flatten
};

std::vector<FlatField> Flatten(const FieldTable& table, const void* object);

// A value and who set it.
struct ResolvedValue {
  std::string section;  // "memory"
  std::string name;     // "checkpoint_every_n_layers"
  Value value;
  Origin origin;
};

std::vector<ResolvedValue> Resolve(const FieldTable& table, const void* object,
                                   const std::string& path, const Origins& origins);

// "[memory]", then one line each: "checkpoint_every_n_layers = 2 (train.toml:7)".
std::string ResolvedText(const std::vector<ResolvedValue>& values);

// Notes the origin for every field that differs between two structs; for fluent calls and other
// changes in code.
void MarkChanges(const FieldTable& table, const void* before, const void* after,
                 const std::string& path, const Origin& origin, Origins& origins);

// Notes the origin for every field; for a whole struct that comes from one place.
void MarkAll(const FieldTable& table, const void* object, const std::string& path,
             const Origin& origin, Origins& origins);

// Sets a field by its dotted name, bringing absent tables on the way to life. The name and the
// value must be right (see CheckValue); throws UsageError for a name that the table lacks.
void SetByName(const FieldTable& table, void* object, std::string_view dotted_name,
               const Value& value);

}  // namespace frugal

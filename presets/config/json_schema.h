#pragma once

#include <optional>
#include <string>
#include <vector>

#include "presets/config/field.h"

namespace frugal {

// One of the tables that a key like `kind` chooses between.
struct SchemaVariant {
  std::string name;  // value of the selector key
  const FieldTable* fields = nullptr;
  // Keys that hold lists of the same variants again; only in sections that are lists.
  std::vector<std::string> nested_lists = {};
};

// One of the forms that a table inside a section may have: [model.config] with the sizes of gpt2.
struct SchemaForm {
  std::string name;  // "gpt2"
  const FieldTable* fields = nullptr;
  // The keys of the section that ask for this form, each with the texts that do.
  struct Asking {
    std::string key;  // "family", "preset"
    std::vector<std::string> texts;
  };
  std::vector<Asking> asked_by = {};
};

// A table inside a section whose form other keys of the section ask for; without them it is
// refused.
struct SchemaInnerTable {
  std::string key;  // "config"
  std::string doc;
  std::vector<SchemaForm> forms = {};
};

// One section of a configuration file.
struct SchemaSection {
  std::string path;  // "memory"; "model.layers" lies inside "model"
  std::string doc;
  const FieldTable* fields = nullptr;    // may be null
  std::vector<Field> other_fields = {};  // keys beside those of the table, such as `preset`
  bool is_list = false;                  // [[path]] rather than [path]
  std::string selector = {};             // key that chooses a variant: "kind"
  std::vector<SchemaVariant> variants = {};
  std::optional<SchemaInnerTable> inner = {};
};

// A JSON schema (draft 2020-12) of configuration files with these sections, for editors. Lengths,
// ranges, choices, defaults and documentation are those of the field tables.
std::string JsonSchemaOf(const std::string& title, const std::vector<SchemaSection>& sections);

// The schema of one table alone.
std::string JsonSchemaOf(const FieldTable& table);

}  // namespace frugal

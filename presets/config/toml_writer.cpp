#include "presets/config/toml_writer.h"

#include <vector>

#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

void CheckWritable(const Field& field, const Value& value, const std::string& path) {
  std::vector<std::string> texts;
  if (const auto* text = std::get_if<std::string>(&value)) texts = {*text};
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) texts = *list;
  for (const std::string& text : texts) {
    if (!IsUtf8(text)) {
      throw ConfigError({path, "'" + field.name + "' must be UTF-8 to be written as TOML",
                         "other bytes were given", "rename it"});
    }
  }
  if (field.optional && value == Value{"none"}) {
    throw ConfigError({path, "'" + field.name + "' must not be the word none to be written as TOML",
                       "\"none\" was given", "write a file of that name as ./none"});
  }
}

bool IsAbsent(const Field& field, const void* object) {
  return field.sub ? !field.sub->find(object) : IsNone(field.get(object));
}

class TomlWriter {
 public:
  explicit TomlWriter(const WriteOptions& options) : options_(options) {}

  void WriteTable(const FieldTable& table, const void* object, const std::string& path) {
    for (const Field& field : table.fields) {
      WriteLine(field, object, table.defaults.get(), path);
    }
    // TOML takes all keys after a header into that table, so the inner tables come last.
    for (const Field& field : table.fields) {
      if (!field.sub || IsAbsent(field, object)) continue;
      const std::string inner_path = path.empty() ? field.name : path + "." + field.name;
      text_ += "\n";
      WriteDoc(field);
      text_ += "[" + inner_path + "]\n";
      WriteTable(field.sub->table, field.sub->find(object), inner_path);
    }
  }

  std::string text_;

 private:
  void WriteDoc(const Field& field) {
    if (options_.with_docs) text_ += "# " + field.doc + "\n";
  }

  void WriteLine(const Field& field, const void* object, const void* defaults,
                 const std::string& path) {
    if (IsAbsent(field, object)) {
      if (IsAbsent(field, defaults)) return;
      WriteDoc(field);
      text_ += field.name + " = \"none\"\n";
    } else if (!field.sub) {
      const Value value = field.get(object);
      CheckWritable(field, value, path);
      WriteDoc(field);
      text_ += field.name + " = " + ToString(value) + "\n";
    }
  }

  WriteOptions options_;
};

}  // namespace

std::string WriteFields(const FieldTable& table, const void* object, const std::string& path,
                        const WriteOptions& options) {
  TomlWriter writer(options);
  if (options.with_header && !path.empty()) writer.text_ += "[" + path + "]\n";
  writer.WriteTable(table, object, path);
  return writer.text_;
}

}  // namespace frugal

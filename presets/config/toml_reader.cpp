#include "presets/config/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "presets/config/config_file.h"
#include "presets/config/diagnostics.h"
#include "presets/config/source_text.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

// Depth of tables and arrays.
constexpr int kMostDepth = 64;

bool IsKeySymbol(char symbol) {
  return (symbol >= 'a' && symbol <= 'z') || (symbol >= 'A' && symbol <= 'Z') ||
         (symbol >= '0' && symbol <= '9') || symbol == '_' || symbol == '-' || symbol == '"' ||
         symbol == '\'';
}

// Returns true where some chain a.b.c... is longer than allowed. Runs over text without parsing it,
// so strings and comments count too: such chains of words have no place there either.
bool HasDeepKey(std::string_view text) {
  int parts = 0;
  bool after_dot = false;
  for (const char symbol : text) {
    if (symbol == '.') {
      parts = after_dot ? 0 : parts + 1;
      after_dot = true;
    } else if (IsKeySymbol(symbol)) {
      after_dot = false;
    } else if (symbol != ' ' && symbol != '\t') {
      parts = 0;
    }
    if (parts > kMostKeyParts) return true;
  }
  return false;
}

TextPlace PlaceOf(const toml::source_position& position) {
  return {position.line, position.column};
}

// Makes plain nodes of the parser's.
class Converter {
 public:
  Converter(std::string_view text, std::string name) : source_(text), name_(std::move(name)) {}

  // Throws ConfigError for what is nested too deep: all readers of the tree recurse.
  ConfigNode Convert(const toml::node& from, int depth = 0) const {
    if (depth > kMostDepth) {
      throw ConfigError({"", "tables must nest at most 64 deep", "deeper ones were given",
                         "is it a configuration?"},
                        At(from.source().begin));
    }
    ConfigNode node;
    node.location = At(from.source().begin);
    node.key_location = node.location;
    node.text = source_.Quote(PlaceOf(from.source().begin), PlaceOf(from.source().end));
    if (const toml::table* table = from.as_table()) {
      AddEntries(*table, node, depth);
    } else if (const toml::array* array = from.as_array()) {
      node.kind = NodeKind::kArray;
      for (const toml::node& item : *array) node.children.push_back(Convert(item, depth + 1));
    } else {
      SetScalar(from, node);
    }
    return node;
  }

 private:
  void AddEntries(const toml::table& table, ConfigNode& node, int depth) const {
    node.kind = NodeKind::kTable;
    for (const auto& [key, value] : table) {
      ConfigNode child = Convert(value, depth + 1);
      child.key = std::string(key.str());
      child.key_location = At(key.source().begin);
      node.children.push_back(std::move(child));
    }
    // The parser sorts by key; messages and listings follow the file.
    std::stable_sort(node.children.begin(), node.children.end(),
                     [](const ConfigNode& a, const ConfigNode& b) {
                       return std::tie(a.key_location.line, a.key_location.column) <
                              std::tie(b.key_location.line, b.key_location.column);
                     });
  }

  static void SetScalar(const toml::node& from, ConfigNode& node) {
    node.kind = NodeKind::kScalar;
    if (const auto* boolean = from.as_boolean()) {
      node.value = boolean->get();
    } else if (const auto* integer = from.as_integer()) {
      node.value = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.value = real->get();
    } else if (const auto* text = from.as_string()) {
      node.value = text->get();
    } else {
      node.kind = NodeKind::kOther;
    }
  }

  SourceLocation At(const toml::source_position& position) const {
    return {name_, static_cast<std::int64_t>(position.line),
            static_cast<std::int64_t>(position.column)};
  }

  SourceText source_;
  std::string name_;
};

ConfigError SyntaxError(const toml::parse_error& error, const std::string& name) {
  const toml::source_position& begin = error.source().begin;
  const std::string description(error.description());
  std::string advice;
  if (description.find("parsing boolean") != std::string::npos ||
      description.find("expected value") != std::string::npos) {
    advice = "text values stand in double quotes: key = \"text\"";
  }
  if (description.find("parsing string") != std::string::npos) {
    advice = "text ends with the quote that it began with, on the same line";
  } else if (description.find("cannot redefine") != std::string::npos) {
    advice = "write it once";
  } else if (description.find("not representable") != std::string::npos) {
    advice = "write a smaller number";
  }
  std::string given = "the parser says: " + description;
  std::replace(given.begin(), given.end(), '\n', ' ');
  return ConfigError(
      {"", "the file must be TOML", given, advice},
      {name, static_cast<std::int64_t>(begin.line), static_cast<std::int64_t>(begin.column)});
}

}  // namespace

ConfigNode ParseTomlFile(const std::filesystem::path& path) {
  return ParseTomlText(ReadTextFile(path), path.string());
}

ConfigNode ParseTomlText(std::string_view text, const std::string& name) {
  if (text.size() > kMostConfigBytes) {
    throw ConfigError(
        {"", "a configuration has at most 2 MB", "a larger one was given", "is it one?"}, {name});
  }
  if (HasDeepKey(text)) {
    throw ConfigError(
        {"", "keys must have at most 32 parts", "a longer one was given", "is it a configuration?"},
        {name});
  }
  try {
    const toml::table table = toml::parse(text, name);
    ConfigNode root = Converter(text, name).Convert(table);
    root.location = root.key_location = {name, 1, 1};
    return root;
  } catch (const toml::parse_error& error) {
    throw SyntaxError(error, name);
  }
}

std::optional<ConfigNode> ParseTomlValue(std::string_view text) {
  const std::string line = "v = " + std::string(text);
  if (HasDeepKey(line)) return std::nullopt;
  try {
    const toml::table table = toml::parse(line);
    const toml::node* value = table.get("v");
    if (table.size() != 1 || !value) return std::nullopt;
    return Converter(line, "").Convert(*value);
  } catch (const toml::parse_error&) {
    return std::nullopt;
  } catch (const ConfigError&) {  // nested too deep
    return std::nullopt;
  }
}

}  // namespace frugal

#include "presets/config/override.h"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "presets/config/diagnostics.h"
#include "presets/config/toml_reader.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const SourceLocation& place, const Diagnostic& diagnostic) {
  throw ConfigError(diagnostic, place);
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void Relocate(ConfigNode& node, const SourceLocation& place) {
  node.location = node.key_location = place;
  for (ConfigNode& child : node.children) Relocate(child, place);
}

ConfigNode ValueNode(std::string_view text, const SourceLocation& place) {
  std::optional<ConfigNode> parsed = ParseTomlValue(text);
  if (!parsed) {
    if (text.empty() || std::string_view("\"'[{").find(text.front()) != std::string_view::npos) {
      Refuse(place, {"", "a value is needed after '='", "'" + Shorten(text) + "' was given",
                     "write section.key=value"});
    }
    parsed.emplace();
    parsed->kind = NodeKind::kScalar;
    parsed->value = std::string(text);
    parsed->text = Shorten(QuoteToml(text));
  }
  Relocate(*parsed, place);
  return *std::move(parsed);
}

// The item of a list that a part of the path counts to; null where it is no number in range.
ConfigNode* ItemOf(ConfigNode& list, const std::string& part) {
  std::size_t index = 0;
  const char* end = part.data() + part.size();
  const auto [stop, problem] = std::from_chars(part.data(), end, index);
  const bool valid = problem == std::errc{} && stop == end && index < list.children.size();
  return valid ? &list.children[index] : nullptr;
}

// The child that a part of the path names, made where a table lacks it.
ConfigNode& Descend(ConfigNode& node, const std::string& part, const SourceLocation& place) {
  if (node.IsArray()) {
    if (ConfigNode* item = ItemOf(node, part)) return *item;
    Refuse(place, {"", "the path must lead to an item of the list, counted from 0",
                   "'" + part + "' was given, and the list has " +
                       std::to_string(node.children.size()) + " items",
                   "add layers in the file"});
  }
  if (!node.IsTable()) {
    Refuse(place, {"", "'" + part + "' must be a key of a table", DescribeGiven(node),
                   "check the path before it"});
  }
  if (ConfigNode* child = node.Find(part)) return *child;
  ConfigNode child;
  child.key = part;
  Relocate(child, place);
  return node.children.emplace_back(std::move(child));
}

}  // namespace

void ApplyOverride(ConfigNode& root, std::string_view assignment) {
  const SourceLocation place = {"--set " + Shorten(assignment), 0, 0};
  const std::size_t equals = assignment.find('=');
  const std::string_view path = Trim(assignment.substr(0, equals));
  const std::vector<std::string> parts = SplitPath(path);
  bool complete = equals != std::string_view::npos && std::ssize(parts) <= kMostKeyParts;
  for (const std::string& part : parts) complete = complete && !part.empty();
  if (!complete) {
    Refuse(place, {"", "an override is needed", "'" + Shorten(assignment) + "' was given",
                   "write section.key=value"});
  }
  ConfigNode value = ValueNode(Trim(assignment.substr(equals + 1)), place);
  ConfigNode* node = &root;
  for (const std::string& part : parts) node = &Descend(*node, part, place);
  value.key = node->key;
  *node = std::move(value);
}

}  // namespace frugal

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "presets/config/value.h"
#include "sdk/core/source_location.h"

namespace frugal {

// kOther is a TOML date or time, which no field of ours takes.
enum class NodeKind : std::uint8_t { kScalar, kArray, kTable, kOther };

// A configuration file as a plain tree, free of the parser's types. Every reader of configurations
// works on this.
struct ConfigNode {
  NodeKind kind = NodeKind::kTable;
  std::string key;                   // in its table; "" for the root and for items of arrays
  SourceLocation key_location;       // of the key; of the item itself in arrays
  SourceLocation location;           // of the value; of the header or '{' of a table
  Value value;                       // of a kScalar: bool, int64_t, double or string
  std::vector<ConfigNode> children;  // of a kTable in file order; of a kArray in array order
  std::string text;                  // as written, shortened; for messages

  bool IsTable() const { return kind == NodeKind::kTable; }
  bool IsArray() const { return kind == NodeKind::kArray; }
  const ConfigNode* Find(std::string_view child_key) const;  // null if absent or not a table
  ConfigNode* Find(std::string_view child_key);
};

// "a string was given: \"two\"", "a table was given": for the `given` part of a diagnostic.
std::string DescribeGiven(const ConfigNode& node);

}  // namespace frugal

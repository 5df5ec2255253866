#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdk/core/source_location.h"

namespace frugal {

// Who said so, weakest first: each takes precedence over those before it.
// kPlanner is what a plan within a memory budget chose where nobody else had.
enum class OriginKind : std::uint8_t { kDefault, kPreset, kPlanner, kFile, kCommandLine, kCode };

struct Origin {
  OriginKind kind = OriginKind::kDefault;
  std::string preset = {};  // for kPreset: its name, or the path of its file
  // For kFile and kCommandLine; for kPreset that of the word `preset`, or of the key in its file.
  SourceLocation location = {};

  static Origin Default() { return {}; }
  static Origin Preset(std::string name, SourceLocation location = {});
  static Origin Planner();
  static Origin At(const SourceLocation& location);  // kFile or kCommandLine
  static Origin Code();

  // Returns true where the user wrote this very value, rather than a preset or nobody.
  bool IsExplicit() const { return kind >= OriginKind::kFile; }
};

// "default", "preset ForConvNets", "preset team.toml:4", "planner", "train.toml:7:1", "--set",
// "code"
std::string ToString(const Origin& origin);
// Writes the origin as ToString does, but files by line alone: "train.toml:7".
std::string ShortText(const Origin& origin);

// Origins by dotted key ("memory.tensor_pool_options.enabled"). Keys never set are defaults.
class Origins {
 public:
  void Set(const std::string& dotted_key, Origin origin);
  const Origin& Of(const std::string& dotted_key) const;

  // Returns where to look for what a key says: its own place, else that of the table around it
  // ("training", which was set like a key), else that of the file (the key ""). Empty where code
  // has set it, or nothing was read from a file.
  SourceLocation PlaceOf(const std::string& dotted_key) const;

 private:
  std::map<std::string, Origin> by_key_;
};

}  // namespace frugal

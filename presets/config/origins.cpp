#include "presets/config/origins.h"

#include <utility>

namespace frugal {

Origin Origin::Preset(std::string name, SourceLocation location) {
  return {OriginKind::kPreset, std::move(name), std::move(location)};
}

Origin Origin::At(const SourceLocation& location) {
  return {location.IsCommandLine() ? OriginKind::kCommandLine : OriginKind::kFile, "", location};
}

Origin Origin::Planner() { return {OriginKind::kPlanner, "", {}}; }

Origin Origin::Code() { return {OriginKind::kCode, "", {}}; }

std::string ToString(const Origin& origin) {
  switch (origin.kind) {
    case OriginKind::kDefault:
      return "default";
    case OriginKind::kPreset: {
      const bool is_file = origin.location.file == origin.preset && origin.location.line > 0;
      return "preset " + origin.preset +
             (is_file ? ":" + std::to_string(origin.location.line) : "");
    }
    case OriginKind::kPlanner:
      return "planner";
    case OriginKind::kFile:
      return ToString(origin.location);
    case OriginKind::kCommandLine:
      return "--set";
    case OriginKind::kCode:
      return "code";
  }
  return "";
}

std::string ShortText(const Origin& origin) {
  if (origin.kind != OriginKind::kFile) return ToString(origin);
  return origin.location.file + ":" + std::to_string(origin.location.line);
}

void Origins::Set(const std::string& dotted_key, Origin origin) {
  by_key_[dotted_key] = std::move(origin);
}

const Origin& Origins::Of(const std::string& dotted_key) const {
  static const Origin kDefaultOrigin;
  const auto found = by_key_.find(dotted_key);
  return found == by_key_.end() ? kDefaultOrigin : found->second;
}

SourceLocation Origins::PlaceOf(const std::string& dotted_key) const {
  const auto found = by_key_.find(dotted_key);
  if (found != by_key_.end()) return found->second.location;
  if (dotted_key.empty()) return {};
  const std::size_t dot = dotted_key.rfind('.');
  return PlaceOf(dot == std::string::npos ? "" : dotted_key.substr(0, dot));
}

}  // namespace frugal

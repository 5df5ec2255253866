#include "presets/origins.h"

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
    case OriginKind::kPreset:
      return "preset " + origin.preset;
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

}  // namespace frugal

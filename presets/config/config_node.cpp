#include "presets/config/config_node.h"

namespace frugal {

const ConfigNode* ConfigNode::Find(std::string_view child_key) const {
  if (kind != NodeKind::kTable) return nullptr;
  for (const ConfigNode& child : children) {
    if (child.key == child_key) return &child;
  }
  return nullptr;
}

ConfigNode* ConfigNode::Find(std::string_view child_key) {
  const ConfigNode& self = *this;
  return const_cast<ConfigNode*>(self.Find(child_key));
}

std::string DescribeGiven(const ConfigNode& node) {
  switch (node.kind) {
    case NodeKind::kTable:
      return "a table was given";
    case NodeKind::kArray:
      return "a list was given: " + node.text;
    case NodeKind::kOther:
      return "a date or time was given: " + node.text;
    case NodeKind::kScalar:
      break;
  }
  return std::string(TypeNameOf(node.value)) + " was given: " + node.text;
}

}  // namespace frugal

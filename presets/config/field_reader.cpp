#include "presets/config/field_reader.h"

#include "presets/config/field_check.h"
#include "presets/config/nearest_name.h"

namespace frugal {
namespace {

constexpr std::size_t kMostKeysToList = 12;

std::string DottedKey(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// The name that a key of an earlier version has now; empty for others.
std::string RenamedTo(const FieldTable& table, const std::string& key) {
  for (const Field& field : table.fields) {
    if (!field.formerly.empty() && field.formerly == key) return field.name;
  }
  return "";
}

Diagnostic UnknownKey(const std::string& path, const std::string& key,
                      const std::vector<std::string>& known) {
  std::string advice = SuggestName(key, known);
  if (advice.empty() && known.size() <= kMostKeysToList) {
    advice = "known here: " + JoinWithCommas(known);
  }
  if (advice.empty()) advice = "remove it; `frugal schema` lists the known keys";
  return {path, "unknown key '" + Shorten(key) + "'", "", advice};
}

// True where the field is there under the name that it had.
bool HasFormerName(const Field& field, const ConfigNode& node) {
  return !field.formerly.empty() && node.Find(field.formerly) != nullptr;
}

// Appends the items of an array node if they are all of type T.
template <class T>
std::optional<Value> ListOf(const ConfigNode& node) {
  std::vector<T> items;
  for (const ConfigNode& child : node.children) {
    const T* item = child.kind == NodeKind::kScalar ? std::get_if<T>(&child.value) : nullptr;
    if (!item) return std::nullopt;
    items.push_back(*item);
  }
  return Value{items};
}

// Returns true where a scalar may be an item of a list of this kind; whole numbers are numbers too.
bool IsItemOf(ValueKind list, const Value& item) {
  if (list == ValueKind::kTextList) return std::holds_alternative<std::string>(item);
  if (std::holds_alternative<std::int64_t>(item)) return true;
  return list == ValueKind::kRealList && std::holds_alternative<double>(item);
}

std::optional<Value> RealListOf(const ConfigNode& node) {
  std::vector<double> items;
  for (const ConfigNode& child : node.children) {
    if (child.kind != NodeKind::kScalar || !IsItemOf(ValueKind::kRealList, child.value)) {
      return std::nullopt;
    }
    const auto* whole = std::get_if<std::int64_t>(&child.value);
    items.push_back(whole ? static_cast<double>(*whole) : std::get<double>(child.value));
  }
  return Value{items};
}

// The node as a value for the field, before any check of range; nothing where no value of the
// field's kind can be made of it.
std::optional<Value> ValueFor(const Field& field, const ConfigNode& node) {
  const bool int_list = field.kind == ValueKind::kIntList;
  const bool text_list = field.kind == ValueKind::kTextList;
  if (node.IsArray()) {
    if (int_list) return ListOf<std::int64_t>(node);
    if (text_list) return ListOf<std::string>(node);
    if (field.kind == ValueKind::kRealList) return RealListOf(node);
    return std::nullopt;
  }
  if (node.kind != NodeKind::kScalar) return std::nullopt;
  if (int_list || text_list) {
    const auto* integer = std::get_if<std::int64_t>(&node.value);
    const auto* text = std::get_if<std::string>(&node.value);
    if (field.single_ok && int_list && integer) return Value{std::vector<std::int64_t>{*integer}};
    if (field.single_ok && text_list && text) return Value{std::vector<std::string>{*text}};
    return std::nullopt;
  }
  return HasType(field.kind, node.value) ? std::optional<Value>(node.value) : std::nullopt;
}

bool SaysNone(const Field& field, const ConfigNode& node) {
  return field.optional && node.kind == NodeKind::kScalar && node.value == Value{"none"};
}

// For wrong items of lists, the item rather than the list.
const ConfigNode& Offender(const Field& field, const ConfigNode& node) {
  if (!node.IsArray()) return node;
  for (const ConfigNode& child : node.children) {
    const bool list = field.kind == ValueKind::kIntList || field.kind == ValueKind::kTextList ||
                      field.kind == ValueKind::kRealList;
    const bool right = child.kind == NodeKind::kScalar && IsItemOf(field.kind, child.value);
    if (list && !right) return child;
  }
  return node;
}

class FieldReader {
 public:
  FieldReader(Origins& origins, Diagnostics& diagnostics)
      : origins_(origins), diagnostics_(diagnostics) {}

  void ReadTable(const FieldTable& table, void* object, const ConfigNode& node,
                 const std::string& path, const std::vector<std::string>& other_keys) {
    if (!node.IsTable()) {
      diagnostics_.Add(node.location, {path, "must be a table", DescribeGiven(node), ""});
      return;
    }
    std::vector<std::string> known = table.Names();
    known.insert(known.end(), other_keys.begin(), other_keys.end());
    for (const ConfigNode& child : node.children) {
      const std::string name = RenamedTo(table, child.key);
      if (name.empty()) continue;
      diagnostics_.Add(child.key_location, {path, "'" + child.key + "' has another name now", "",
                                            "write " + name + " in its place"});
      known.push_back(child.key);
    }
    CheckKeys(node, known, path, diagnostics_);
    for (const Field& field : table.fields) {
      if (const ConfigNode* child = node.Find(field.name)) {
        ReadField(field, object, *child, path);
      } else if (field.required && !HasFormerName(field, node)) {
        diagnostics_.Add(node.location,
                         {path, "key '" + field.name + "' is required", "it is missing",
                          "add " + field.name + " = <" + DescribeType(field) + ">"});
      }
    }
  }

 private:
  void ReadField(const Field& field, void* object, const ConfigNode& node,
                 const std::string& path) {
    const std::string dotted = DottedKey(path, field.name);
    if (!field.sub) {
      const std::optional<Value> value = ReadValue(field, node, path, diagnostics_);
      if (!value) return;
      field.set(object, *value);
    } else if (SaysNone(field, node)) {
      field.sub->clear(object);
    } else {
      // A node that is no table must not bring the optional struct to life.
      void* inner = node.IsTable() ? field.sub->ensure(object) : nullptr;
      ReadTable(field.sub->table, inner, node, dotted, {});
      if (!inner) return;
    }
    origins_.Set(dotted, Origin::At(node.key_location));
  }

  Origins& origins_;
  Diagnostics& diagnostics_;
};

}  // namespace

void ReadFields(const FieldTable& table, void* object, const ConfigNode& node,
                const std::string& path, Origins& origins, Diagnostics& diagnostics,
                const std::vector<std::string>& other_keys) {
  FieldReader(origins, diagnostics).ReadTable(table, object, node, path, other_keys);
}

void CheckKeys(const ConfigNode& node, const std::vector<std::string>& known,
               const std::string& path, Diagnostics& diagnostics) {
  for (const ConfigNode& child : node.children) {
    bool found = false;
    for (const std::string& name : known) found = found || name == child.key;
    if (!found) diagnostics.Add(child.key_location, UnknownKey(path, child.key, known));
  }
}

std::optional<Value> ReadValue(const Field& field, const ConfigNode& node, const std::string& path,
                               Diagnostics& diagnostics) {
  if (SaysNone(field, node)) return Value{};
  const std::optional<Value> value = ValueFor(field, node);
  if (!value) {
    const ConfigNode& offender = Offender(field, node);
    diagnostics.Add(offender.location, {path, Requirement(field), DescribeGiven(offender), ""});
    return std::nullopt;
  }
  if (std::optional<Diagnostic> diagnostic = CheckValue(field, *value)) {
    diagnostic->where = path;
    if (!node.IsArray()) diagnostic->given = node.text + " was given";  // 0x00, not 0
    diagnostics.Add(node.location, *diagnostic);
    return std::nullopt;
  }
  return value;
}

}  // namespace frugal

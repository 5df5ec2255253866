#include "presets/config/field.h"

#include <cmath>

namespace frugal {
namespace {

// Bounds are doubles but often whole numbers: 4096, not 4096.0.
std::string BoundText(double bound) {
  const bool whole = std::floor(bound) == bound && std::abs(bound) < 9e15;
  return whole ? std::to_string(static_cast<std::int64_t>(bound)) : ToString(Value{bound});
}

// "a list of ", "a list of 2 ", "a list of 1 to 2 ", "a list of one or more "
std::string ListPhrase(const Field& field) {
  std::string phrase = field.single_ok ? "a number or a list of " : "a list of ";
  const bool bounded = field.max_items != std::numeric_limits<std::size_t>::max();
  if (bounded && field.min_items == field.max_items) {
    phrase += std::to_string(field.max_items) + " ";
  } else if (bounded) {
    phrase += std::to_string(field.min_items) + " to " + std::to_string(field.max_items) + " ";
  } else if (field.min_items == 1) {
    phrase += "one or more ";
  } else if (field.min_items > 1) {
    phrase += "at least " + std::to_string(field.min_items) + " ";
  }
  return phrase;
}

std::string KindPhrase(const Field& field) {
  switch (field.kind) {
    case ValueKind::kBool:
      return "true or false";
    case ValueKind::kInt:
      return "an integer";
    case ValueKind::kReal:
      return "a number";
    case ValueKind::kAmount:
      return "a share of all such as \"70%\", above 0 and up to \"100%\", or an integer";
    case ValueKind::kText:
    case ValueKind::kChoice:
      return "a string";
    case ValueKind::kIntList:
      return ListPhrase(field) + "integers";
    case ValueKind::kRealList:
      return ListPhrase(field) + "numbers";
    case ValueKind::kTextList:
      return ListPhrase(field) + "strings";
    case ValueKind::kTable:
      return "a table";
  }
  return "";
}

}  // namespace

bool Range::Contains(double value) const {
  if (!std::isfinite(value)) return false;
  if (min && (min_exclusive ? value <= *min : value < *min)) return false;
  return !(max && (max_exclusive ? value >= *max : value > *max));
}

std::string ToString(const Range& range) {
  std::string text;
  if (range.min) text = (range.min_exclusive ? "> " : ">= ") + BoundText(*range.min);
  if (!range.max) return text;
  if (!text.empty()) text += " and ";
  return text + (range.max_exclusive ? "< " : "<= ") + BoundText(*range.max);
}

const Field* FieldTable::Find(std::string_view field_name) const {
  for (const Field& field : fields) {
    if (field.name == field_name) return &field;
  }
  return nullptr;
}

std::vector<std::string> FieldTable::Names() const {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

std::string DescribeType(const Field& field) {
  const bool is_list = field.kind == ValueKind::kTextList;
  if (!field.choices.empty()) {
    return (is_list ? "a list of: " : "one of ") + JoinWithCommas(field.choices);
  }
  const std::string range = ToString(field.range);
  return KindPhrase(field) + (range.empty() ? "" : " " + range);
}

}  // namespace frugal

#include "presets/config/field_check.h"

#include <algorithm>
#include <cmath>

#include "presets/config/memory_budget.h"
#include "presets/config/nearest_name.h"

namespace frugal {
namespace {

std::vector<double> NumbersOf(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return {static_cast<double>(*integer)};
  }
  if (const auto* real = std::get_if<double>(&value)) return {*real};
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
  std::vector<double> numbers;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t item : *list) numbers.push_back(static_cast<double>(item));
  }
  return numbers;
}

std::vector<std::string> TextsOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return {*text};
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return {};
}

bool HasItemCount(const Field& field, const Value& value) {
  std::size_t count = field.min_items;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) count = list->size();
  if (const auto* list = std::get_if<std::vector<double>>(&value)) count = list->size();
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) count = list->size();
  return count >= field.min_items && count <= field.max_items;
}

// The first text that is none of the field's choices; null if there is none such.
std::optional<std::string> NoChoice(const Field& field, const Value& value) {
  if (field.choices.empty()) return std::nullopt;
  for (const std::string& text : TextsOf(value)) {
    const auto found = std::find(field.choices.begin(), field.choices.end(), text);
    if (found == field.choices.end()) return text;
  }
  return std::nullopt;
}

bool HasNul(const Value& value) {
  return std::ranges::any_of(TextsOf(value),
                             [](const std::string& text) { return text.find('\0') != text.npos; });
}

// "a finite number >= 0"
std::string FiniteNumber(const Range& range) {
  const std::string bounds = ToString(range);
  return "a finite number" + (bounds.empty() ? "" : " " + bounds);
}

std::string Given(const Value& value) { return Shorten(ToString(value)) + " was given"; }

}  // namespace

bool HasType(ValueKind kind, const Value& value) {
  switch (kind) {
    case ValueKind::kBool:
      return std::holds_alternative<bool>(value);
    case ValueKind::kInt:
      return std::holds_alternative<std::int64_t>(value);
    case ValueKind::kReal:
      return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    case ValueKind::kAmount:
      return std::holds_alternative<std::int64_t>(value) ||
             std::holds_alternative<std::string>(value);
    case ValueKind::kText:
    case ValueKind::kChoice:
      return std::holds_alternative<std::string>(value);
    case ValueKind::kIntList:
      return std::holds_alternative<std::vector<std::int64_t>>(value);
    case ValueKind::kRealList:
      return std::holds_alternative<std::vector<double>>(value);
    case ValueKind::kTextList:
      return std::holds_alternative<std::vector<std::string>>(value);
    case ValueKind::kTable:
      break;
  }
  return false;
}

std::string Requirement(const Field& field) {
  return "'" + field.name + "' must be " + DescribeType(field);
}

std::optional<Diagnostic> CheckValue(const Field& field, const Value& value) {
  if (IsNone(value)) {
    if (field.optional) return std::nullopt;
    return Diagnostic{"", Requirement(field), "none was given", ""};
  }
  if (!HasType(field.kind, value)) {
    const std::string given = std::string(TypeNameOf(value)) + " was given: ";
    return Diagnostic{"", Requirement(field), given + Shorten(ToString(value)), ""};
  }
  if (HasNul(value)) {
    return Diagnostic{"", "'" + field.name + "' must have no NUL character", Given(value),
                      "the system would end a path there"};
  }
  for (const double number : NumbersOf(value)) {
    if (!std::isfinite(number)) {
      return Diagnostic{"", "'" + field.name + "' must be " + FiniteNumber(field.range),
                        Given(value), ""};
    }
    if (!field.range.Contains(number)) return Diagnostic{"", Requirement(field), Given(value), ""};
    if (field.storage.Contains(number)) continue;
    const std::string limits = "'" + field.name + "' must be " + ToString(field.storage);
    return Diagnostic{"", limits, Given(value), ""};
  }
  if (const auto* share = std::get_if<std::string>(&value);
      share && field.kind == ValueKind::kAmount && !ParsePercent(*share)) {
    return Diagnostic{"", Requirement(field), Given(value), ""};
  }
  if (!HasItemCount(field, value)) return Diagnostic{"", Requirement(field), Given(value), ""};
  if (const std::optional<std::string> text = NoChoice(field, value)) {
    return Diagnostic{"", Requirement(field), Given(*text), SuggestName(*text, field.choices)};
  }
  return std::nullopt;
}

std::vector<Diagnostic> CheckFields(const FieldTable& table, const void* object,
                                    const std::string& path) {
  std::vector<Diagnostic> found;
  for (const Field& field : table.fields) {
    if (field.sub) {
      const void* inner = field.sub->find(object);
      if (!inner) continue;
      const auto nested = CheckFields(field.sub->table, inner, path + "." + field.name);
      found.insert(found.end(), nested.begin(), nested.end());
    } else if (std::optional<Diagnostic> diagnostic = CheckValue(field, field.get(object))) {
      diagnostic->where = path;
      found.push_back(*std::move(diagnostic));
    }
  }
  return found;
}

}  // namespace frugal

#pragma once

// Rows of a field table, made from members of a struct. For a struct
//
//   struct ExampleOptions {
//     std::int64_t units = 0;
//     Activation activation = Activation::kIdentity;
//     bool bias = true;
//   };
//
// the table is
//
//   const FieldTable& ExampleFields() {
//     static const FieldTable table = MakeFieldTable<ExampleOptions>(
//         "example", {MakeField("units", &ExampleOptions::units, "Features of the output.",
//                             {.min = 1, .required = true}),
//                   MakeChoice("activation", &ExampleOptions::activation, "Applied to the output.",
//                              {{"none", Activation::kIdentity}, {"relu", Activation::kRelu}}),
//                   MakeField("bias", &ExampleOptions::bias, "Whether a bias is added.")});
//     return table;
//   }
//
// Members may be bool, int, int64_t, float, double, std::string, std::vector<int64_t>, PerAxis,
// std::vector<double>, std::vector<std::string>, MemoryBudget, and std::optional of these; enums by
// MakeChoice; structs and std::optional<struct> by MakeTable.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "presets/config/field.h"
#include "presets/config/memory_budget.h"
#include "sdk/core/per_axis.h"

namespace frugal {

struct FieldLimits {
  std::optional<double> min = {};
  std::optional<double> max = {};
  bool min_exclusive = false;
  bool max_exclusive = false;
  bool required = false;
  std::string unit = {};
  std::vector<std::string> choices = {};
  std::size_t min_items = 0;
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  bool single_ok = false;
  std::string formerly = {};
};

// The names of an enum's values, as TOML spells them.
template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

// The name of a value; "" for a value that has none.
template <class E>
std::string NameIn(const Choices<E>& choices, E value) {
  for (const auto& [name, choice] : choices) {
    if (choice == value) return name;
  }
  return "";
}

namespace field_detail {

template <class M>
struct Unwrap {
  using Type = M;
  static constexpr bool kOptional = false;
};
template <class M>
struct Unwrap<std::optional<M>> {
  using Type = M;
  static constexpr bool kOptional = true;
};
template <class M>
using Inner = typename Unwrap<M>::Type;

template <class M>
constexpr ValueKind KindOf() {
  if constexpr (std::is_same_v<M, bool>) return ValueKind::kBool;
  if constexpr (std::is_same_v<M, std::int64_t> || std::is_same_v<M, int>) return ValueKind::kInt;
  if constexpr (std::is_floating_point_v<M>) return ValueKind::kReal;
  if constexpr (std::is_same_v<M, std::string>) return ValueKind::kText;
  if constexpr (std::is_same_v<M, MemoryBudget>) return ValueKind::kAmount;
  if constexpr (std::is_same_v<M, std::vector<std::int64_t>>) return ValueKind::kIntList;
  if constexpr (std::is_same_v<M, PerAxis>) return ValueKind::kIntList;
  if constexpr (std::is_same_v<M, std::vector<double>>) return ValueKind::kRealList;
  if constexpr (std::is_same_v<M, std::vector<std::string>>) return ValueKind::kTextList;
  return ValueKind::kTable;  // no plain value
}

template <class M>
Value AsValue(const M& member) {
  if constexpr (Unwrap<M>::kOptional) {
    return member ? AsValue(*member) : Value{};
  } else if constexpr (std::is_same_v<M, float>) {
    return Value{ShortestDouble(member)};
  } else if constexpr (std::is_same_v<M, int>) {
    return Value{std::int64_t{member}};
  } else if constexpr (std::is_same_v<M, PerAxis>) {
    return Value{member.numbers()};
  } else if constexpr (std::is_same_v<M, MemoryBudget>) {
    if (member.percent <= 0) return Value{member.megabytes};
    return Value{PercentText(member)};
  } else {
    return Value{member};
  }
}

template <class M>
void Assign(M& member, const Value& value) {
  if constexpr (Unwrap<M>::kOptional) {
    member.reset();
    if (!IsNone(value)) Assign(member.emplace(), value);
  } else if constexpr (std::is_same_v<M, MemoryBudget>) {
    const auto* share = std::get_if<std::string>(&value);
    member = share ? MemoryBudget{0, ParsePercent(*share).value()}
                   : MemoryBudget{std::get<std::int64_t>(value), 0};
  } else if constexpr (std::is_floating_point_v<M>) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    member = static_cast<M>(integer ? static_cast<double>(*integer) : std::get<double>(value));
  } else if constexpr (std::is_same_v<M, int>) {
    member = static_cast<int>(std::get<std::int64_t>(value));
  } else if constexpr (std::is_same_v<M, PerAxis>) {
    member = PerAxis(std::get<std::vector<std::int64_t>>(value));
  } else {
    member = std::get<M>(value);
  }
}

template <class M>
Range StorageOf() {
  if constexpr (std::is_same_v<M, int> || std::is_same_v<M, float>) {
    return {static_cast<double>(std::numeric_limits<M>::lowest()),
            static_cast<double>(std::numeric_limits<M>::max())};
  }
  return {};
}

}  // namespace field_detail

// A row for a plain member; its kind, and whether it may be none, follow from the member's type.
template <class T, class M>
Field MakeField(std::string name, M T::*member, std::string doc, FieldLimits limits = {}) {
  using Inner = field_detail::Inner<M>;
  static_assert(field_detail::KindOf<Inner>() != ValueKind::kTable,
                "unsupported member type: see the list at the top of make_field.h");
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = field_detail::KindOf<Inner>();
  field.optional = field_detail::Unwrap<M>::kOptional;
  field.required = limits.required;
  field.range = {limits.min, limits.max, limits.min_exclusive, limits.max_exclusive};
  field.storage = field_detail::StorageOf<Inner>();
  field.unit = std::move(limits.unit);
  field.choices = std::move(limits.choices);
  field.min_items = limits.min_items;
  field.max_items = limits.max_items;
  field.single_ok = limits.single_ok;
  field.formerly = limits.formerly;
  field.get = [member](const void* object) {
    return field_detail::AsValue(static_cast<const T*>(object)->*member);
  };
  field.set = [member](void* object, const Value& value) {
    field_detail::Assign(static_cast<T*>(object)->*member, value);
  };
  return field;
}

// A row for an enum, or a std::optional of one.
template <class T, class M>
Field MakeChoice(std::string name, M T::*member, std::string doc,
                 const std::type_identity_t<Choices<field_detail::Inner<M>>>& choices,
                 bool required = false) {
  using E = field_detail::Inner<M>;
  static_assert(std::is_enum_v<E>);
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = ValueKind::kChoice;
  field.optional = field_detail::Unwrap<M>::kOptional;
  field.required = required;
  for (const auto& choice : choices) field.choices.push_back(choice.first);
  field.get = [member, choices](const void* object) {
    const std::optional<E> chosen = static_cast<const T*>(object)->*member;
    return chosen ? Value{NameIn<E>(choices, *chosen)} : Value{};
  };
  field.set = [member, choices](void* object, const Value& value) {
    M& target = static_cast<T*>(object)->*member;
    if (IsNone(value)) target = M{};
    for (const auto& [text, choice] : choices) {
      if (!IsNone(value) && text == std::get<std::string>(value)) target = choice;
    }
  };
  return field;
}

template <class T>
FieldTable MakeFieldTable(std::string name, std::vector<Field> fields) {
  return {std::move(name), std::move(fields), std::make_shared<const T>()};
}

// A row for a struct inside the struct, or for a std::optional of one, which may be absent.
template <class T, class M>
Field MakeTable(std::string name, M T::*member, std::string doc, FieldTable table) {
  constexpr bool kOptional = field_detail::Unwrap<M>::kOptional;
  SubTable sub;
  sub.table = std::move(table);
  sub.find = [member](const void* object) -> const void* {
    const M& inner = static_cast<const T*>(object)->*member;
    if constexpr (kOptional) return inner ? &*inner : nullptr;
    if constexpr (!kOptional) return &inner;
  };
  sub.ensure = [member](void* object) -> void* {
    M& inner = static_cast<T*>(object)->*member;
    if constexpr (kOptional) return inner ? &*inner : &inner.emplace();
    if constexpr (!kOptional) return &inner;
  };
  sub.clear = [member](void* object) { static_cast<T*>(object)->*member = M{}; };
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = ValueKind::kTable;
  field.optional = kOptional;
  field.sub = std::make_shared<const SubTable>(std::move(sub));
  return field;
}

}  // namespace frugal

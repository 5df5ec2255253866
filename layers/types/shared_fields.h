#pragma once

#include <algorithm>
#include <string>

#include "presets/config/field_limits.h"
#include "presets/config/make_field.h"
#include "sdk/ops/activation.h"

namespace frugal {

// Rows that the tables of several layers share.

// Makes the field of a function by name; the parameters of functions that have some stay at their
// defaults.
template <class T>
Field ActivationField(std::string name, ActivationFunction T::*member, std::string doc) {
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = ValueKind::kChoice;
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    field.choices.emplace_back(NameOf(static_cast<Activation>(i)));
  }
  field.get = [member](const void* object) {
    return Value{std::string(NameOf((static_cast<const T*>(object)->*member).kind))};
  };
  field.set = [member, names = field.choices](void* object, const Value& value) {
    const auto at = std::ranges::find(names, std::get<std::string>(value)) - names.begin();
    static_cast<T*>(object)->*member = ActivationFunction(static_cast<Activation>(at));
  };
  return field;
}

// Returns the fields of an Initializer.
FieldTable InitializerFields();

// Returns what a list of extents over `axes` axes may hold: numbers from `least`, of which one
// counts for all axes.
FieldLimits PerAxisLimits(double least, std::size_t axes, bool required = false);

// A size: features, channels, groups. At least 1.
FieldLimits SizeLimits(bool required = false);
// These limits for a field that had another name.
FieldLimits Formerly(std::string name, FieldLimits limits);

}  // namespace frugal

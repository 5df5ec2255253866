#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "presets/config/field.h"
#include "sdk/core/registry.h"

namespace frugal {

// Makes the field `kind` of options that are one of ours, an enum, or a function of the program
// that is registered by name: its choices are the registry's rows. The options have `kind`,
// `function` and `name`, which is the function's; `kinds` counts the enum.
template <class Options, class Row>
Field KindField(std::string doc, const Registry<Row>& rows, std::size_t kinds) {
  using Kind = decltype(Options::kind);
  Field field;
  field.name = "kind";
  field.doc = std::move(doc);
  field.kind = ValueKind::kChoice;
  field.choices = rows.Names();
  field.get = [](const void* object) {
    const auto& options = *static_cast<const Options*>(object);
    return Value{options.name.empty() ? std::string(NameOf(options.kind)) : options.name};
  };
  field.set = [&rows, kinds](void* object, const Value& value) {
    auto& options = *static_cast<Options*>(object);
    const Row& row = *rows.Find(std::get<std::string>(value));
    options.function = row.function;
    options.name = row.function ? row.name : "";
    for (std::size_t i = 0; i < kinds; ++i) {
      if (NameOf(static_cast<Kind>(i)) == row.name) options.kind = static_cast<Kind>(i);
    }
  };
  return field;
}

}  // namespace frugal

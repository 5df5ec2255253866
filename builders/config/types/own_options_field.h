#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "presets/config/field.h"
#include "sdk/core/own_options.h"
#include "sdk/core/registry.h"

namespace frugal {

// The fields of the options that one row of a registry has for itself; `name` is the row's.
struct OwnFields {
  std::string name;
  OwnOptions defaults;
  FieldTable fields;
};

// A row for the options of an OwnFields: a table named as it, beside the keys of all. It is there
// where `is_chosen`, by its default values if none were given; reading it gives some.
template <class T>
Field OwnOptionsField(const OwnFields& own, OwnOptions T::*member,
                      std::function<bool(const T&)> is_chosen) {
  const auto defaults = own.fields.defaults;
  SubTable sub;
  sub.table = own.fields;
  sub.find = [=, type = own.defaults.type()](const void* object) -> const void* {
    const T& outer = *static_cast<const T*>(object);
    if (!is_chosen(outer)) return nullptr;
    OwnOptions& held = const_cast<T&>(outer).*member;  // Data leads to what may be changed
    return held.type() == type ? held.Data() : defaults.get();
  };
  sub.ensure = [=, defaults = own.defaults](void* object) -> void* {
    OwnOptions& held = static_cast<T*>(object)->*member;
    if (held.type() != defaults.type()) held = defaults;
    return held.Data();
  };
  sub.clear = [=](void* object) { static_cast<T*>(object)->*member = OwnOptions(); };
  Field field;
  field.name = own.name;
  field.doc = "Options of " + own.name + " alone.";
  field.kind = ValueKind::kTable;
  field.sub = std::make_shared<const SubTable>(std::move(sub));
  return field;
}

// Says who registers a row with options of its own, and beside the keys of which section.
struct OwnTablePlace {
  std::string where;    // "RegisterOptimizer"
  std::string section;  // "optimizer"
};
// Throws UsageError where the name is one of these keys, or is none that TOML takes without quotes.
void RequireTableName(const std::string& name, const std::vector<Field>& keys,
                      const OwnTablePlace& place);

// A field table that depends on what programs have registered. Those that were handed out stay as
// they are, where they are. Threads: any may use it at any time.
class GrowingFields {
 public:
  explicit GrowingFields(FieldTable (*make)()) : make_(make) {}

  // `registered` counts all rows that the table is made from.
  const FieldTable& At(std::size_t registered) {
    const std::scoped_lock lock(mutex_);
    const auto [found, is_new] = tables_.try_emplace(registered);
    if (is_new) found->second = make_();
    return found->second;
  }

 private:
  FieldTable (*make_)();
  std::mutex mutex_;
  std::map<std::size_t, FieldTable> tables_;
};

}  // namespace frugal

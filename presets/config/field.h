#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "presets/config/value.h"

namespace frugal {

struct SubTable;

// Bounds of a number, or of every number of a list.
struct Range {
  std::optional<double> min = {};
  std::optional<double> max = {};
  bool min_exclusive = false;
  bool max_exclusive = false;

  bool Contains(double value) const;  // false for NaN and, whatever the bounds, for infinity
};

// ">= 1", "> 0 and <= 1", "" where there are no bounds.
std::string ToString(const Range& range);

// One field of a configuration struct: everything that reading, checking, writing, comparing and
// documenting it needs. Made by the functions of make_field.h. `object` below always points to the
// struct that the field's table describes.
struct Field {
  std::string name;
  std::string doc;  // one line
  ValueKind kind = ValueKind::kBool;
  bool optional = false;  // may be none
  bool required = false;  // must be given by whoever writes the table
  Range range = {};
  Range storage = {};     // what the member's type can hold, where that is less than Value holds
  std::string unit = {};  // for the documentation: "MB", "bytes"
  std::vector<std::string> choices = {};  // closed list of texts, where not empty
  std::string other_texts = {};  // pattern (ECMA 262) of texts that are allowed beside the choices
  std::size_t min_items = 0;     // of a list
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  bool single_ok = false;     // a list of one may be written without brackets: `3` for `[3]`
  std::string formerly = {};  // its name in earlier versions, which is refused with this one

  std::function<Value(const void* object)> get = {};
  // Takes values that passed CheckValue; others throw std::bad_variant_access.
  std::function<void(void* object, const Value& value)> set = {};

  std::shared_ptr<const SubTable> sub = {};  // only for kTable, which has no get and set
};

// All fields of one struct, in the order of their documentation.
struct FieldTable {
  std::string name;  // of the struct, for documentation: "memory", "dense"
  std::vector<Field> fields;
  std::shared_ptr<const void> defaults;  // a default-constructed struct

  const Field* Find(std::string_view field_name) const;  // null if there is none
  std::vector<std::string> Names() const;
};

// The table inside a field of kind kTable, and how to reach its struct from the outer one.
struct SubTable {
  FieldTable table;
  std::function<const void*(const void* object)> find;  // null where the struct is absent
  std::function<void*(void* object)> ensure;            // makes a default one where it is absent
  std::function<void(void* object)> clear;              // makes it absent
};

// "an integer >= 1", "a list of 1 to 2 integers >= 0", "one of A, B, C", "true or false".
std::string DescribeType(const Field& field);

}  // namespace frugal

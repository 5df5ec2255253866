#pragma once

#include <any>
#include <concepts>
#include <type_traits>
#include <typeindex>
#include <utility>

namespace frugal {

// Options that only their owner knows, a struct of whatever type, or none: those of one layer, one
// architecture, an optimizer or a data set of a program. A value.
class OwnOptions {
 public:
  OwnOptions() = default;
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, OwnOptions>)
      OwnOptions(T options)  // NOLINT(google-explicit-constructor): any struct of options is one
      : value_(std::move(options)),
        find_([](std::any& value) -> void* { return std::any_cast<T>(&value); }) {}

  bool empty() const { return !value_.has_value(); }
  // Returns that of void where there are none.
  std::type_index type() const { return value_.type(); }
  // Returns null where it is a struct of another type.
  template <class T>
  const T* As() const {
    return std::any_cast<T>(&value_);
  }
  // Returns the struct, as a field table takes it; null where there is none.
  void* Data() { return empty() ? nullptr : find_(value_); }

 private:
  std::any value_;
  void* (*find_)(std::any& value) = nullptr;
};

}  // namespace frugal

#pragma once

#include <any>
#include <concepts>
#include <type_traits>
#include <typeindex>
#include <utility>

namespace frugal {

// A struct of options of whatever type: those of one layer, one architecture. A value.
class AnyOptions {
 public:
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, AnyOptions>)
      AnyOptions(T options)  // NOLINT(google-explicit-constructor): any struct of options is one
      : value_(std::move(options)),
        find_([](std::any& value) -> void* { return std::any_cast<T>(&value); }) {}

  std::type_index type() const { return value_.type(); }
  // Returns null where it is a struct of another type.
  template <class T>
  const T* As() const {
    return std::any_cast<T>(&value_);
  }
  // Returns the struct, as a field table takes it.
  void* Data() { return find_(value_); }

 private:
  std::any value_;
  void* (*find_)(std::any& value);
};

}  // namespace frugal

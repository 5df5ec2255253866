#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace frugal {

// Returns the whole number in a value of JSON (any of nlohmann's types of it). Throws its
// type_error for all else and for what 64 bits with a sign cannot hold: its own get() converts
// every number, and what becomes of a fraction of 1e36 is undefined.
template <typename Json>
std::int64_t JsonInteger(const Json& json) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool fits = !json.is_number_unsigned() || json.template get<std::uint64_t>() <= kMost;
  if (json.is_number_integer() && fits) return json.template get<std::int64_t>();
  throw Json::type_error::create(302, "a whole number below 2^63 is required", &json);
}

// Returns those of a list.
template <typename Json>
std::vector<std::int64_t> JsonIntegers(const Json& json) {
  std::vector<std::int64_t> numbers;
  for (const Json& number : json.template get_ref<const typename Json::array_t&>()) {
    numbers.push_back(JsonInteger(number));
  }
  return numbers;
}

}  // namespace frugal

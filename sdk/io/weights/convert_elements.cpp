#include "sdk/io/weights/convert_elements.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "sdk/io/weights/visit_dtype.h"

namespace frugal {
namespace {

template <class To>
bool ConvertOne(double value, To& result) {
  if constexpr (std::is_same_v<To, float>) {
    if (std::isfinite(value) && std::fabs(value) > std::numeric_limits<float>::max()) return false;
  } else if constexpr (std::is_integral_v<To>) {
    if (!(std::fabs(value) < 0x1p63) || value != std::trunc(value)) return false;
  }
  result = static_cast<To>(value);
  return true;
}

template <class To>
bool ConvertOne(Half value, To& result) {
  return ConvertOne(static_cast<double>(ToFloat(value)), result);
}

template <class To>
bool ConvertOne(BFloat16 value, To& result) {
  return ConvertOne(static_cast<double>(static_cast<float>(value)), result);
}

template <class To, class From>
requires std::is_integral_v<From>
bool ConvertOne(From value, To& result) {
  if constexpr (std::is_integral_v<To>) {
    if (!std::in_range<To>(value)) return false;
  }
  result = static_cast<To>(value);
  return true;
}

template <class From, class To>
std::optional<std::size_t> ConvertAll(const std::byte* source, std::span<To> destination) {
  for (std::size_t at = 0; at < destination.size(); ++at) {
    From value;
    std::memcpy(&value, source + at * sizeof(From), sizeof(From));
    To result;
    if (!ConvertOne(value, result)) return at;
    destination[at] = result;
  }
  return std::nullopt;
}

template <class To>
std::optional<std::size_t> Convert(StoredDType from, const std::byte* source,
                                   std::span<To> destination) {
  return VisitDType(from, [&]<class From>(std::type_identity<From>) {
    return ConvertAll<From>(source, destination);
  });
}

}  // namespace

std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<float> destination) {
  return Convert(from, source, destination);
}

std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<double> destination) {
  return Convert(from, source, destination);
}

std::optional<std::size_t> ConvertElements(StoredDType from, const std::byte* source,
                                           std::span<std::int64_t> destination) {
  return Convert(from, source, destination);
}

}  // namespace frugal

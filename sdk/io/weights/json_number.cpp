#include "sdk/io/weights/json_number.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "sdk/io/weights/visit_dtype.h"

namespace frugal {
namespace {

template <class T>
T Printable(T value) {
  return value;
}
float Printable(Half value) { return ToFloat(value); }
float Printable(BFloat16 value) { return static_cast<float>(value); }

template <class T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end();
}

bool Parse(std::string_view text, double& value) {
  if (ParseWhole(text, value)) return std::isfinite(value);
  // from_chars also calls numbers out of range that are nearly zero; strtod rounds them.
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::fabs(value) < std::numeric_limits<double>::min();
}

bool Parse(std::string_view text, float& value) {
  if (ParseWhole(text, value)) return std::isfinite(value);
  value = std::strtof(std::string(text).c_str(), nullptr);
  return std::fabs(value) < std::numeric_limits<float>::min();
}

template <class T>
requires std::is_integral_v<T>
bool Parse(std::string_view text, T& value) { return ParseWhole(text, value); }

bool Parse(std::string_view text, Half& value) {
  float wide = 0;
  if (!Parse(text, wide)) return false;
  value = ToHalf(wide);
  return std::isfinite(ToFloat(value));
}

bool Parse(std::string_view text, BFloat16& value) {
  float wide = 0;
  if (!Parse(text, wide)) return false;
  value = BFloat16(wide);
  return std::isfinite(static_cast<float>(value));
}

}  // namespace

bool AppendJsonNumber(std::string& text, StoredDType dtype, const std::byte* source) {
  return VisitDType(dtype, [&]<class T>(std::type_identity<T>) {
    T stored;
    std::memcpy(&stored, source, sizeof stored);
    const auto value = Printable(stored);
    if constexpr (std::is_floating_point_v<decltype(Printable(stored))>) {
      if (!std::isfinite(value)) return false;
    }
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
    return true;
  });
}

bool ParseJsonNumber(std::string_view text, StoredDType dtype, std::byte* destination) {
  return VisitDType(dtype, [&]<class T>(std::type_identity<T>) {
    T value{};
    if (!Parse(text, value)) return false;
    if (dtype == StoredDType::kBool && text != "0" && text != "1") return false;
    std::memcpy(destination, &value, sizeof value);
    return true;
  });
}

}  // namespace frugal

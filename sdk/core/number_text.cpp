#include "sdk/core/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

constexpr double kMostFixed = 1e15;  // beyond it a number in full has too many digits to be read

std::string WordFor(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

std::string Format(double value, std::chars_format format, int digits) {
  if (!std::isfinite(value)) return WordFor(value);
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
  return {buffer.data(), end};
}

std::string TwoDigits(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

}  // namespace

std::string FixedText(double value, int digits) {
  if (std::abs(value) >= kMostFixed) return Format(value, std::chars_format::general, 6);
  return Format(value, std::chars_format::fixed, digits);
}

std::string CompactText(double value, int digits) {
  return Format(value, std::chars_format::general, digits);
}

std::string PercentText(double share) { return FixedText(share * 100, 2) + "%"; }

std::string FlopsText(double flops) {
  constexpr std::array<const char*, 5> units = {" FLOP", " KFLOP", " MFLOP", " GFLOP", " TFLOP"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(flops) >= 1000) {
    flops /= 1000;
    ++unit;
  }
  return FixedText(flops, unit == 0 ? 0 : 1) + units[unit];
}

std::string RateText(double per_second) {
  if (!(std::abs(per_second) < kMostFixed)) return FixedText(per_second, 0);
  if (std::abs(per_second) >= 100) return FormatCount(std::llround(per_second));
  return FixedText(per_second, per_second < 1 ? 2 : 1);
}

std::string DurationText(double seconds) {
  if (!(std::abs(seconds) < kMostFixed)) return FixedText(seconds, 0) + " s";
  if (seconds < 9.995) return FixedText(seconds, 2) + " s";
  if (seconds < 59.95) return FixedText(seconds, 1) + " s";
  const std::int64_t whole = std::llround(seconds);
  if (whole < 3600) return std::to_string(whole / 60) + " min " + TwoDigits(whole % 60) + " s";
  return FormatCount(whole / 3600) + " h " + TwoDigits(whole % 3600 / 60) + " min";
}

}  // namespace frugal

#include "builders/report/html/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

// Keep differences finite and steps above zero; no reader misses what lies beyond.
constexpr double kLargest = 1e100;
constexpr double kSmallest = 1e-100;
constexpr int kMostTicks = 6;

struct Span {
  double low;
  double high;
};

// A range that has an extent which its numbers can resolve.
Span CastToF32(double low, double high) {
  low = std::clamp(low, -kLargest, kLargest);
  high = std::clamp(high, -kLargest, kLargest);
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > std::max(size * 1e-9, kSmallest)) return {low, high};
  const double margin = size > kSmallest ? size * 0.05 : 0.5;
  return {low - margin, high + margin};
}

// Digits after the point that tell multiples of `step` apart.
std::string ValueText(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (size >= 1e7 || step < 1e-6) return CompactText(value == 0 ? 0 : value, 5);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return FixedText(value, digits);
}

template <class TextOf>
std::vector<Tick> TicksAt(Span span, double step, TextOf text_of) {
  std::vector<Tick> ticks;
  const double first = std::ceil(span.low / step - 1e-6);
  for (int i = 0; i <= 2 * kMostTicks; ++i) {
    double at = (first + i) * step;
    if (at > span.high + step * 1e-6) break;
    if (std::abs(at) < step * 1e-6) at = 0;  // no "-0"
    ticks.push_back({at, text_of(at)});
  }
  return ticks;
}

}  // namespace

double Axis::ShareOf(double value) const { return (value - low) / (high - low); }

double RoundStep(double low, double high, int most, bool whole) {
  const double raw = (high - low) / std::max(most - 1, 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double digit = raw / power;
  const double step = (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
  return whole ? std::max(1.0, step) : step;
}

Axis CountAxis(double low, double high, std::string title) {
  const Span span = high > low ? Span{low, high} : Span{low - 0.5, low + 0.5};
  const double step = RoundStep(span.low, span.high, kMostTicks + 2, true);
  const auto text = [](double at) { return FormatCount(std::llround(at)); };
  return {span.low, span.high, TicksAt(span, step, text), std::move(title)};
}

Axis ValueAxis(double low, double high, std::string title) {
  Span span = CastToF32(low, high);
  const double step = RoundStep(span.low, span.high, kMostTicks, false);
  span = {std::floor(span.low / step + 1e-6) * step, std::ceil(span.high / step - 1e-6) * step};
  const auto text = [step](double at) { return ValueText(at, step); };
  return {span.low, span.high, TicksAt(span, step, text), std::move(title)};
}

Axis PercentAxis(double low, double high, std::string title) {
  Axis axis = ValueAxis(100 * low, 100 * high, std::move(title));
  axis.low = std::max(0.0, axis.low / 100);
  axis.high = std::min(1.0, axis.high / 100);
  for (Tick& tick : axis.ticks) {
    tick.at /= 100;
    tick.text += "%";
  }
  std::erase_if(axis.ticks, [](const Tick& tick) { return tick.at < 0 || tick.at > 1 + 1e-9; });
  return axis;
}

Axis BytesAxis(double high, std::string title) {
  const bool is_mb = high >= static_cast<double>(kBytesPerMegabyte);
  const double unit = is_mb ? static_cast<double>(kBytesPerMegabyte) : high >= 1024 ? 1024 : 1;
  const std::string name = is_mb ? " MB" : high >= 1024 ? " KB" : " B";
  Axis axis = ValueAxis(0, std::max(high / unit, 1.0), std::move(title));
  axis.high = std::max(high / unit, 1.0);
  std::erase_if(axis.ticks, [&axis](const Tick& tick) { return tick.at > axis.high; });
  axis.high *= unit;
  const bool whole = std::ranges::all_of(axis.ticks, [](const Tick& tick) {
    return tick.at == std::floor(tick.at) && tick.at < 1e15;
  });
  for (Tick& tick : axis.ticks) {
    tick.text = (whole ? FormatCount(std::llround(tick.at)) : tick.text) + name;
    tick.at *= unit;
  }
  return axis;
}

}  // namespace frugal

#include "sdk/backend/eigen/optimizer/state_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace frugal::eigen {
namespace {

void Widen(const BFloat16* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

void Narrow(const float* x, std::uint32_t seed, BFloat16* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto word = std::bit_cast<std::uint32_t>(x[i]);
    const std::uint32_t raised = word + (StateNoise(seed, i) >> 16);
    y[i] = BFloat16(x[i]);
    if (std::isfinite(x[i])) y[i].bits = static_cast<std::uint16_t>(raised >> 16);
  }
}

int Decades(StateSign sign) { return sign == StateSign::kSigned ? 6 : 7; }
int LastCode(StateSign sign) { return sign == StateSign::kSigned ? 127 : 255; }

using Table = std::array<float, 256>;

Table MakeTable(StateSign sign) {
  Table values{};
  for (int k = 0; k <= Decades(sign); ++k) {
    const int parts = 1 << k;
    for (int part = 0; part < parts; ++part) {
      const double middle = 0.1 + 0.9 * (part + 0.5) / parts;
      values[static_cast<std::size_t>(parts + part)] =
          static_cast<float>(middle * std::pow(10.0, k - Decades(sign)));
    }
  }
  return values;
}

const Table& TableOf(StateSign sign) {
  static const Table with_sign = MakeTable(StateSign::kSigned);
  static const Table without = MakeTable(StateSign::kUnsigned);
  return sign == StateSign::kSigned ? with_sign : without;
}

void Decode(const std::uint8_t* codes, float scale, StateSign sign, float* x, std::int64_t n) {
  const Table& table = TableOf(sign);
  for (std::int64_t i = 0; i < n; ++i) {
    const bool minus = sign == StateSign::kSigned && codes[i] > 127;
    const float magnitude = table[minus ? codes[i] - 128U : codes[i]] * scale;
    x[i] = minus ? -magnitude : magnitude;
  }
}

// Between the code below and the one above, at random.
int CodeOf(float multiple, std::uint32_t noise, StateSign sign) {
  const Table& table = TableOf(sign);
  const int last = LastCode(sign);
  const auto above = std::upper_bound(table.begin() + 1, table.begin() + last + 1, multiple);
  const int code = static_cast<int>(above - table.begin()) - 1;
  if (code == last) return last;
  const auto at = static_cast<std::size_t>(code);
  const float share = (multiple - table[at]) / (table[at + 1] - table[at]);
  const float threshold = static_cast<float>(noise >> 8) * (1.0F / 16777216.0F);
  return share + threshold >= 1 ? code + 1 : code;
}

float Encode(const float* x, std::uint32_t seed, StateSign sign, std::uint8_t* codes,
             std::int64_t n) {
  float largest = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    finite = finite && std::isfinite(x[i]);
    largest = std::max(largest, std::abs(x[i]));
  }
  if (!finite || largest < std::numeric_limits<float>::min()) {
    for (std::int64_t i = 0; i < n; ++i) codes[i] = 0;
    return 0;
  }
  const float top = TableOf(sign)[static_cast<std::size_t>(LastCode(sign))];
  for (std::int64_t i = 0; i < n; ++i) {
    int code = CodeOf(std::abs(x[i]) * (top / largest), StateNoise(seed, i), sign);
    if (sign == StateSign::kUnsigned && x[i] > 0) code = std::max(code, 1);
    if (sign == StateSign::kSigned && std::signbit(x[i])) code += 128;
    codes[i] = static_cast<std::uint8_t>(code);
  }
  return largest / top;
}

}  // namespace

const StateCodec& PlainStateCodec() {
  static constexpr StateCodec kCodec{Widen, Narrow, Decode, Encode};
  return kCodec;
}

}  // namespace frugal::eigen

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

// Box and Muller's normal numbers from random words, in operations that compilers turn into those
// of vectors and that give the same bits alone or side by side: no branches, no library function
// but the square root. Errors stay below 1e-15.
namespace frugal::normal_numbers {

// 2^52, in whose binade the last bit of a double is worth 1.
inline constexpr double kWhole = 4503599627370496.0;
inline constexpr auto kWholeBits = std::bit_cast<std::uint64_t>(kWhole);

// (word + 1/2) / 2^32, strictly between 0 and 1
inline double MiddleOf(std::uint64_t word) {
  return (std::bit_cast<double>(kWholeBits | word) - kWhole + 0.5) * 0x1p-32;
}

// Natural logarithm of a normal number above 0: x = m 2^e with m in [1/sqrt(2), sqrt(2)), and
// log(m) = 2 atanh((m - 1) / (m + 1)) by its series, whose terms end below 1e-17 of the first.
inline double Logarithm(double x) {
  constexpr auto kRootHalf = std::bit_cast<std::uint64_t>(0.70710678118654757);
  constexpr auto kOne = std::bit_cast<std::uint64_t>(1.0);
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = (bits + kOne - kRootHalf) >> 52;  // e + 1023
  const auto m = std::bit_cast<double>(bits + kOne - (above << 52));
  const double e = std::bit_cast<double>(kWholeBits | above) - (kWhole + 1023.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = 1.0 / 21;
  for (const double term :
       {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}) {
    sum = sum * z + term;
  }
  return e * 0.69314718055994531 + (2.0 * s + 2.0 * s * z * sum);
}

struct Turned {
  double cosine, sine;
};

// Returns cosine and sine of the angle 2 pi v, v in [0, 1]: the series of both are taken at most an
// eighth of a turn from the nearest quarter, which says which is which and with what sign.
inline Turned AtTurn(double v) {
  constexpr double kRound = 1.5 * kWhole;
  const double quarters = 4.0 * v + kRound;
  const auto quarter = std::bit_cast<std::uint64_t>(quarters);
  const double x = (4.0 * v - (quarters - kRound)) * 1.5707963267948966;
  const double z = x * x;
  double sine = 1.0 / 355687428096000;  // 17!
  for (const double term : {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                            -1.0 / 5040, 1.0 / 120, -1.0 / 6}) {
    sine = sine * z + term;
  }
  double cosine = 1.0 / 20922789888000;  // 16!
  for (const double term : {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                            -1.0 / 720, 1.0 / 24, -1.0 / 2}) {
    cosine = cosine * z + term;
  }
  const auto s = std::bit_cast<std::uint64_t>(x + x * z * sine);
  const auto c = std::bit_cast<std::uint64_t>(1.0 + z * cosine);
  const std::uint64_t swapped = (s ^ c) & (0 - (quarter & 1));
  return {std::bit_cast<double>((c ^ swapped) ^ ((quarter + 1) >> 1 << 63)),
          std::bit_cast<double>((s ^ swapped) ^ (quarter >> 1 << 63))};
}

// Two independent normal numbers from two words.
inline Turned Normals(std::uint64_t first, std::uint64_t second) {
  const double radius = std::sqrt(-2.0 * Logarithm(MiddleOf(first)));
  const Turned turned = AtTurn(MiddleOf(second));
  return {radius * turned.cosine, radius * turned.sine};
}

}  // namespace frugal::normal_numbers

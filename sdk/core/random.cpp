#include "sdk/core/random.h"

#include <Random123/philox.h>
#include <xxhash.h>

#include <cmath>
#include <numbers>

namespace frugal {

std::uint64_t StreamKey(std::uint64_t seed, std::string_view name, std::uint64_t number) {
  const std::uint64_t named = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  return number == 0 ? named : XXH3_64bits_withSeed(&number, sizeof number, named);
}

std::array<std::uint32_t, 4> RandomWords(std::uint64_t key, std::uint64_t block) {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
  const r123::Philox4x32::key_type philox_key = {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  const auto words = r123::Philox4x32()(counter, philox_key);
  return {words[0], words[1], words[2], words[3]};
}

double UniformAt(std::uint64_t key, std::uint64_t index) {
  return UniformFromWord(RandomWords(key, index / 4)[index % 4]);
}

std::array<double, 2> NormalPair(std::uint64_t key, std::uint64_t block) {
  const auto words = RandomWords(key, block);
  // (word + 1/2) / 2^32 lies strictly between 0 and 1, so the logarithm is finite.
  const double u = (words[0] + 0.5) / 4294967296.0;
  const double v = (words[1] + 0.5) / 4294967296.0;
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double NormalAt(std::uint64_t key, std::uint64_t index) {
  return NormalPair(key, index / 2)[index % 2];
}

}  // namespace frugal

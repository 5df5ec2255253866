#include "sdk/core/random.h"

#include <Random123/philox.h>
#include <xxhash.h>

#include <algorithm>

#include "sdk/core/normal_numbers.h"

namespace frugal {
namespace {

inline r123::Philox4x32::ctr_type PhiloxWords(std::uint64_t key, std::uint64_t block) {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}};
  const r123::Philox4x32::key_type philox_key = {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  return r123::Philox4x32()(counter, philox_key);
}

}  // namespace

std::uint64_t StreamKey(std::uint64_t seed, std::string_view name, std::uint64_t number) {
  const std::uint64_t named = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  return number == 0 ? named : XXH3_64bits_withSeed(&number, sizeof number, named);
}

std::array<std::uint32_t, 4> RandomWords(std::uint64_t key, std::uint64_t block) {
  const auto words = PhiloxWords(key, block);
  return {words[0], words[1], words[2], words[3]};
}

double UniformAt(std::uint64_t key, std::uint64_t index) {
  return UniformFromWord(RandomWords(key, index / 4)[index % 4]);
}

double NormalAt(std::uint64_t key, std::uint64_t index) {
  const auto words = RandomWords(key, index / 2);
  const auto [cosine, sine] = normal_numbers::Normals(words[0], words[1]);
  return index % 2 == 0 ? cosine : sine;
}

void FillUniforms(std::uint64_t key, std::uint64_t first, std::span<double> numbers) {
  for (std::size_t i = 0; i < numbers.size();) {
    const auto words = RandomWords(key, (first + i) / 4);
    for (std::size_t at = (first + i) % 4; at < 4 && i < numbers.size(); ++at, ++i) {
      numbers[i] = UniformFromWord(words[at]);
    }
  }
}

void FillNormals(std::uint64_t key, std::uint64_t first, std::span<double> numbers) {
  constexpr std::size_t kTogether = 64;  // pairs
  std::array<std::uint32_t, kTogether> left, right;
  std::array<double, 2 * kTogether> made;
  for (std::size_t done = 0; done < numbers.size();) {
    const std::uint64_t block = (first + done) / 2;
    const std::size_t skipped = (first + done) % 2;
    const std::size_t count = std::min(numbers.size() - done, made.size() - skipped);
    const std::size_t pairs = (skipped + count + 1) / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto words = PhiloxWords(key, block + i);
      left[i] = words[0];
      right[i] = words[1];
    }
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto [cosine, sine] = normal_numbers::Normals(left[i], right[i]);
      made[2 * i] = cosine;
      made[2 * i + 1] = sine;
    }
    std::copy_n(made.data() + skipped, count, numbers.data() + done);
    done += count;
  }
}

}  // namespace frugal

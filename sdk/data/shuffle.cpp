#include "sdk/data/shuffle.h"

#include <numeric>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/core/random.h"

namespace frugal {
namespace {

constexpr std::uint64_t kLow = 0xffffffff;

// The upper 64 bits of a product: maps a random word to [0, bound) with a bias below bound / 2^64.
std::uint64_t MultiplyHigh(std::uint64_t word, std::uint64_t bound) {
  const std::uint64_t low = (word & kLow) * (bound & kLow);
  const std::uint64_t left = (word >> 32) * (bound & kLow) + (low >> 32);
  const std::uint64_t right = (word & kLow) * (bound >> 32) + (left & kLow);
  return (word >> 32) * (bound >> 32) + (left >> 32) + (right >> 32);
}

// Word number `step` of a stream, of 64 bits: one half of a block.
std::uint64_t WordAt(std::uint64_t key, std::uint64_t step) {
  const auto words = RandomWords(key, step / 2);
  const std::size_t half = step % 2 * 2;
  return words[half] | static_cast<std::uint64_t>(words[half + 1]) << 32;
}

void CheckNotNegative(const char* what, std::int64_t value) {
  if (value >= 0) return;
  throw UsageError({.where = "order of samples",
                    .required = std::string(what) + " is not negative",
                    .given = std::to_string(value) + " was given",
                    .advice = {}});
}

}  // namespace

std::vector<std::int64_t> EpochOrder(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                     bool shuffle) {
  CheckNotNegative("the number of samples", count);
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  FillEpochOrder(order, seed, epoch, shuffle);
  return order;
}

void FillEpochOrder(std::span<std::int64_t> order, std::uint64_t seed, std::int64_t epoch,
                    bool shuffle) {
  CheckNotNegative("the epoch", epoch);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (!shuffle) return;
  const std::uint64_t key = StreamKey(seed, "shuffle", static_cast<std::uint64_t>(epoch));
  const std::size_t count = order.size();
  for (std::size_t step = 0; step + 1 < count; ++step) {
    const std::size_t left = count - step;
    std::swap(order[left - 1], order[MultiplyHigh(WordAt(key, step), left)]);
  }
}

}  // namespace frugal

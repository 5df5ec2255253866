#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sdk/core/threads.h"

// Loops over fixed pieces. Where the pieces lie depends on the sizes alone, never on the number of
// threads, so that every sum has one order and every result the same bits on any machine size.
namespace frugal::eigen {

inline constexpr std::int64_t kChunk = 16384;  // elements: long enough to pay for a thread

using frugal::ParallelFor;

// Rows of `columns` elements that make up about kChunk elements.
constexpr std::int64_t RowsPerChunk(std::int64_t columns) {
  return std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, columns));
}

// One copy of the code for all callers: where it is inlined, one of them may be vectorized in
// another order than the other, and the sum's bits would depend on the number of threads.
template <class Partial>
[[gnu::noinline]] double SumOfPiece(const Partial& partial, std::int64_t begin, std::int64_t end) {
  return partial(begin, end);
}

// Sum of partial(begin, end) over fixed pieces of [0, count) of at least `smallest` indices, at
// most 256 of them, added in order.
template <class Partial>
double ParallelSum(std::int64_t count, std::int64_t smallest, const Partial& partial) {
  constexpr std::int64_t kMostPieces = 256;
  const std::int64_t chunk = std::max(smallest, (count + kMostPieces - 1) / kMostPieces);
  std::array<double, kMostPieces> sums{};
  ParallelFor(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / chunk)] = SumOfPiece(partial, begin, end);
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace frugal::eigen

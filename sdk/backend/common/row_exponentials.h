#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace frugal::eigen {

// Largest of count >= 1 values, NaN left out; in lanes of its own, since a compiler may not reorder
// comparisons.
template <class T>
T RowMaximum(const T* x, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<T, kLanes> lanes;
  lanes.fill(-std::numeric_limits<T>::infinity());
  T* largest = lanes.data();
  std::int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    for (std::int64_t i = 0; i < kLanes; ++i) {
      largest[i] = x[j + i] > largest[i] ? x[j + i] : largest[i];
    }
  }
  for (; j < count; ++j) largest[0] = x[j] > largest[0] ? x[j] : largest[0];
  return *std::max_element(lanes.begin(), lanes.end());
}

// log(sum(exp(x))), with the largest taken out so that nothing overflows.
template <class T>
double LogSumExp(const T* x, std::int64_t count) {
  const T largest = RowMaximum(x, count);
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) sum += static_cast<double>(std::exp(x[j] - largest));
  return static_cast<double>(largest) + std::log(sum);
}

}  // namespace frugal::eigen

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace frugal::eigen {

template <class T>
T RowMaximum(const T* x, std::int64_t count) {
  T largest = x[0];
#pragma omp simd reduction(max : largest)
  for (std::int64_t j = 1; j < count; ++j) largest = x[j] > largest ? x[j] : largest;
  return largest;
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

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace frugal {

// Seconds of one call, the average over at least 30 ms.
inline double SecondsPerCall(const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double passed = 0;
  int calls = 0;
  for (; passed < 0.03; ++calls) {
    body();
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return passed / calls;
}

// The best of `rounds` for each, one after the other in every round, so that each ratio holds on a
// busy machine too.
template <std::size_t kBodies>
std::array<double, kBodies> BestInTurn(const std::array<std::function<void()>, kBodies>& bodies,
                                       int rounds) {
  std::array<double, kBodies> best;
  best.fill(1e9);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kBodies; ++i)
      best[i] = std::min(best[i], SecondsPerCall(bodies[i]));
  }
  return best;
}

// 0 of no values.
inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace frugal

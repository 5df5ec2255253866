#pragma once

#include <cstdint>

namespace frugal::onednn {

// Count, mean and sum of squared deviations of a set of numbers, and of the union of two sets
// (Chan, Golub & LeVeque, Updating formulae, 1979): no cancellation, however far the mean lies
// from 0.
struct Moments {
  double count = 0;
  double mean = 0;
  double deviations = 0;

  // Makes them from the sums of d = x - shift and of d^2 over `count` numbers.
  static Moments FromSums(double count, double shift, double sum, double squares) {
    const double mean = sum / count;
    const double deviations = squares - sum * mean;
    return {count, shift + mean, deviations > 0 ? deviations : 0};
  }
  void Add(const Moments& other) {
    const double total = count + other.count;
    const double delta = other.mean - mean;
    const double share = other.count / total;
    mean += delta * share;
    deviations += other.deviations + delta * delta * count * share;
    count = total;
  }
  double Variance() const { return deviations / count; }
};

}  // namespace frugal::onednn

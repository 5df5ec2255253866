#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sdk/backend/common/row_exponentials.h"
#include "sdk/backend/eigen/loss/regression_terms.h"

// The losses of one row x of D numbers, in double precision, and factor times their gradients.
namespace frugal::eigen {

// The mean distance of x from t.
template <Regression kKind>
struct RegressionRow {
  double delta;

  template <class T>
  double LossOf(const T* x, const T* t, std::int64_t columns) const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      sum += Loss<kKind>(static_cast<double>(x[j]), static_cast<double>(t[j]), delta);
    }
    return sum / static_cast<double>(std::max<std::int64_t>(1, columns));
  }
  template <class T>
  void Gradient(const T* x, const T* t, std::int64_t columns, double factor, T* dx) const {
    const double scale = factor / static_cast<double>(std::max<std::int64_t>(1, columns));
    for (std::int64_t j = 0; j < columns; ++j) {
      const double slope =
          Derivative<kKind>(static_cast<double>(x[j]), static_cast<double>(t[j]), delta);
      dx[j] = static_cast<T>(scale * slope);
    }
  }
};

// sum of t (log t - log softmax(x)); 0 log 0 = 0
struct KlRow {
  template <class T>
  double LossOf(const T* x, const T* t, std::int64_t columns) const {
    const double log_sum_exp = LogSumExp(x, columns);
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto share = static_cast<double>(t[j]);
      if (share == 0) continue;
      sum += share * (std::log(share) - (static_cast<double>(x[j]) - log_sum_exp));
    }
    return sum;
  }
  template <class T>
  void Gradient(const T* x, const T* t, std::int64_t columns, double factor, T* dx) const {
    const double log_sum_exp = LogSumExp(x, columns);
    double all = 0;
    for (std::int64_t j = 0; j < columns; ++j) all += static_cast<double>(t[j]);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double p = std::exp(static_cast<double>(x[j]) - log_sum_exp);
      dx[j] = static_cast<T>(factor * (all * p - static_cast<double>(t[j])));
    }
  }
};

// 1 - x t / (|x| |t|). A row of zeros has similarity 0 with everything, and no gradient.
struct CosineRow {
  struct Products {
    double xt = 0, x = 0, t = 0;  // x t, |x|, |t|
  };
  template <class T>
  static Products ProductsOf(const T* x, const T* t, std::int64_t columns) {
    double xt = 0;
    double xx = 0;
    double tt = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      xt += static_cast<double>(x[j]) * static_cast<double>(t[j]);
      xx += static_cast<double>(x[j]) * static_cast<double>(x[j]);
      tt += static_cast<double>(t[j]) * static_cast<double>(t[j]);
    }
    return {xt, std::sqrt(xx), std::sqrt(tt)};
  }
  template <class T>
  double LossOf(const T* x, const T* t, std::int64_t columns) const {
    const Products all = ProductsOf(x, t, columns);
    if (all.x == 0 || all.t == 0) return 1;
    return 1 - all.xt / (all.x * all.t);
  }
  template <class T>
  void Gradient(const T* x, const T* t, std::int64_t columns, double factor, T* dx) const {
    const Products all = ProductsOf(x, t, columns);
    if (all.x == 0 || all.t == 0) {
      std::fill_n(dx, columns, T{0});
      return;
    }
    const double similarity = all.xt / (all.x * all.t);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double slope = static_cast<double>(t[j]) / (all.x * all.t) -
                           similarity * static_cast<double>(x[j]) / (all.x * all.x);
      dx[j] = static_cast<T>(-factor * slope);
    }
  }
};

// max(0, |a - p| - |a - n| + margin), where every difference gets 1e-6 as PyTorch's does, so that
// equal rows have a gradient.
struct TripletRow {
  double margin;
  static constexpr double kEpsilon = 1e-6;

  template <class T>
  static double Difference(const T* a, const T* b, std::int64_t j) {
    return static_cast<double>(a[j]) - static_cast<double>(b[j]) + kEpsilon;
  }
  template <class T>
  static double Distance(const T* a, const T* b, std::int64_t columns) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += Difference(a, b, j) * Difference(a, b, j);
    return std::sqrt(sum);
  }
  template <class T>
  double LossOf(const T* x, const T* /*t*/, std::int64_t columns) const {
    const std::int64_t width = columns / 3;
    const double excess =
        Distance(x, x + width, width) - Distance(x, x + 2 * width, width) + margin;
    return excess < 0 ? 0 : excess;  // keeps NaN
  }
  template <class T>
  void Gradient(const T* x, const T* t, std::int64_t columns, double factor, T* dx) const {
    const std::int64_t width = columns / 3;
    const T* like = x + width;
    const T* unlike = x + 2 * width;
    const bool is_far = LossOf(x, t, columns) == 0;
    const double near = Distance(x, like, width);
    const double far = Distance(x, unlike, width);
    for (std::int64_t j = 0; j < width; ++j) {
      const double towards = is_far || near == 0 ? 0 : factor * Difference(x, like, j) / near;
      const double away = is_far || far == 0 ? 0 : factor * Difference(x, unlike, j) / far;
      dx[j] = static_cast<T>(towards - away);
      dx[width + j] = static_cast<T>(-towards);
      dx[2 * width + j] = static_cast<T>(away);
    }
  }
};

// sum over j != label of max(0, margin - x[label] + x[j]) / D
struct HingeRow {
  double margin;

  template <class T>
  double LossOf(const T* x, std::int64_t label, std::int64_t columns) const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double excess = margin - static_cast<double>(x[label]) + static_cast<double>(x[j]);
      if (j != label && !(excess <= 0)) sum += excess;  // NaN too
    }
    return sum / static_cast<double>(columns);
  }
  template <class T>
  void Gradient(const T* x, std::int64_t label, std::int64_t columns, double factor, T* dx) const {
    const double scale = factor / static_cast<double>(columns);
    double all = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double excess = margin - static_cast<double>(x[label]) + static_cast<double>(x[j]);
      double slope = excess > 0 ? 1 : (excess <= 0 ? 0 : excess);  // NaN stays NaN
      if (j == label) slope = 0;
      all += slope;
      dx[j] = static_cast<T>(scale * slope);
    }
    dx[label] = static_cast<T>(-scale * all);
  }
};

}  // namespace frugal::eigen

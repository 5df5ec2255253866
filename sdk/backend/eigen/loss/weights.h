#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sdk/backend/common/dispatch.h"

namespace frugal::eigen {

// Throws DataError where the label of a row is outside [0, classes).
void RequireLabel(std::string_view where, std::int64_t label, std::int64_t row,
                  std::int64_t classes);

// Weights of samples, which have one row or as many each in a row; ones where there are none.
template <class T>
class SampleWeights {
 public:
  SampleWeights(const Tensor& weights, std::int64_t rows)
      : weights_(DataOrNull<T>(weights)),
        rows_each_(weights
                       ? std::max<std::int64_t>(1, rows / std::max<std::int64_t>(1, weights.size()))
                       : 1) {}

  double OfRow(std::int64_t row) const {
    return weights_ != nullptr ? static_cast<double>(weights_[row / rows_each_]) : 1.0;
  }

 private:
  const T* weights_;
  std::int64_t rows_each_;
};

}  // namespace frugal::eigen

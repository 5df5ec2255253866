#include "builders/report/rows/smoothing.h"

#include <cmath>
#include <limits>

namespace frugal {

void SmoothedValue::Add(double value) {
  if (!std::isfinite(value)) return;
  sum_ = sum_ * keep_ + value * (1 - keep_);
  weight_ = weight_ * keep_ + (1 - keep_);
}

double SmoothedValue::value() const {
  return weight_ > 0 ? sum_ / weight_ : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace frugal

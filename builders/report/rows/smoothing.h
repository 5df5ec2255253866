#pragma once

namespace frugal {

// Exponential moving average of what is added, without a pull toward the start: after few values it
// is their weighted mean. Values that are not finite are left out.
class SmoothedValue {
 public:
  explicit SmoothedValue(double window) : keep_(1 - 2 / (window + 1)) {}

  void Add(double value);
  double value() const;  // NaN before the first

 private:
  double keep_;  // share of the past
  double sum_ = 0;
  double weight_ = 0;
};

}  // namespace frugal

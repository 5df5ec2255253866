#pragma once

#include <functional>
#include <utility>

#include "sdk/tensor/tensor.h"

namespace frugal {

class Context;

// Makes a value again, bit for bit, from what is kept for backward in any case: an activation's
// output from its input. Operations that would keep the value for their own backward keep this
// instead. Made for the first of them, it stays until the last has had it.
class Remat {
 public:
  using Make = std::function<Tensor(Context&)>;
  // Sums of a residual stream in a row that are rematerialized: each needs the one before, and all
  // of them are live while the first of a row is used. Of n sums n / (m + 1) + m are live at most.
  static constexpr int kMostSums = 3;

  explicit Remat(Make make, int sums) : make_(std::move(make)), sums_(sums) {}

  int sums() const { return sums_; }  // in a row that it takes to make this
  void AddKeeper() { ++waiting_; }
  // Once for each keeper.
  Tensor Get(Context& context) {
    Tensor value = made_ ? std::exchange(made_, Tensor()) : make_(context);
    if (--waiting_ > 0) made_ = value;
    return value;
  }

 private:
  Make make_;
  int sums_;
  Tensor made_;
  int waiting_ = 0;
};

}  // namespace frugal

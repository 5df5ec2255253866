#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "sdk/autograd/context.h"
#include "sdk/autograd/variable.h"

namespace frugal {

// Makes a value again, bit for bit, from what is kept for backward in any case: an activation's
// output from its input. Operations that would keep the value for their own backward keep this
// instead. Made for the first of them, it stays until the last has had it.
class Remake {
 public:
  using Make = std::function<Tensor(Context&)>;

  explicit Remake(Make make) : make_(std::move(make)) {}

  void AddKeeper() { ++waiting_; }
  // Once for each keeper.
  Tensor Get(Context& context) {
    Tensor value = made_ ? std::exchange(made_, Tensor()) : make_(context);
    if (--waiting_ > 0) made_ = value;
    return value;
  }

 private:
  Make make_;
  Tensor made_;
  int waiting_ = 0;
};

// What an operation keeps of a variable that its backward reads: the value, or only how it is made
// again.
class KeptValue {
 public:
  KeptValue() = default;
  explicit KeptValue(const Var& x) : value_(x.remake ? Tensor() : x.value), remake_(x.remake) {
    if (remake_) remake_->AddKeeper();
  }

  // Once: who needs it twice holds on to what it got.
  Tensor Get(Context& context) const { return remake_ ? remake_->Get(context) : value_; }

 private:
  Tensor value_;
  std::shared_ptr<Remake> remake_;
};

}  // namespace frugal

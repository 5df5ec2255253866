#pragma once

#include "sdk/autograd/context.h"
#include "sdk/autograd/variable.h"

namespace frugal {

// What an operation keeps of a variable that its backward reads: the value, or only how it is made
// again from what others keep anyway.
class KeptValue {
 public:
  KeptValue() = default;
  explicit KeptValue(const Var& x) : value_(x.remake ? Tensor() : x.value), remake_(x.remake) {}

  Tensor Get(Context& context) const { return remake_ ? (*remake_)(context) : value_; }

 private:
  Tensor value_;
  std::shared_ptr<const Remake> remake_;
};

}  // namespace frugal

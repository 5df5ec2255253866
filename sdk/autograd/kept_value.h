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
  // Sums of a residual stream in a row that are made again: each needs the one before, and all of
  // them are live while the first of a row is used. Of n sums n / (m + 1) + m are live at most.
  static constexpr int kMostSums = 3;

  explicit Remake(Make make, int sums) : make_(std::move(make)), sums_(sums) {}

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

inline int SumsBehind(const Var& x) { return x.remake ? x.remake->sums() : 0; }

// A result that operations behind it need not keep: make(context, x) is its value again.
template <class Make>
Var MadeAgainFrom(const Var& x, Var result, Make make, int more_sums = 0) {
  if (!result.needs_gradient()) return result;
  result.remake =
      std::make_shared<Remake>([make = std::move(make), kept = KeptValue(x)](
                                   Context& context) { return make(context, kept.Get(context)); },
                               SumsBehind(x) + more_sums);
  return result;
}

// The same for a sum along a residual stream, but for one in kMostSums + 1.
template <class Make>
Var SumMadeAgainFrom(const Var& stream, Var result, Make make) {
  if (SumsBehind(stream) >= Remake::kMostSums) return result;
  return MadeAgainFrom(stream, std::move(result), std::move(make), 1);
}

}  // namespace frugal

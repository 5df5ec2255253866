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

// Holds what an operation keeps of a variable that its backward reads: the value, or only how it is
// made again.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Var& x) : value_(x.remat ? Tensor() : x.value), remat_(x.remat) {
    if (remat_) remat_->AddKeeper();
  }

  // Once: who needs it twice holds on to what it got.
  Tensor Get(Context& context) const { return remat_ ? remat_->Get(context) : value_; }

 private:
  Tensor value_;
  std::shared_ptr<Remat> remat_;
};

inline int SumsBehind(const Var& x) { return x.remat ? x.remat->sums() : 0; }

// A result that operations behind it need not keep: make(context, x) is its value again.
template <class Make>
Var RematerializedFrom(const Var& x, Var result, Make make, int more_sums = 0) {
  if (!result.needs_gradient()) return result;
  result.remat =
      std::make_shared<Remat>([make = std::move(make), kept = SavedTensor(x)](
                                  Context& context) { return make(context, kept.Get(context)); },
                              SumsBehind(x) + more_sums);
  return result;
}

// Does the same for a sum along a residual stream, but for one sum in kMostSums + 1.
template <class Make>
Var SumRematerializedFrom(const Var& stream, Var result, Make make) {
  if (SumsBehind(stream) >= Remat::kMostSums) return result;
  return RematerializedFrom(stream, std::move(result), std::move(make), 1);
}

}  // namespace frugal

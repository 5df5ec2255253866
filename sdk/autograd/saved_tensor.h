#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "sdk/autograd/context.h"
#include "sdk/autograd/remat.h"
#include "sdk/autograd/variable.h"

namespace frugal {

// Holds what an operation keeps of a variable that its backward reads: the value, or only how it is
// made again, or brought back from a page file.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(Context& context, const Var& x) : remat_(x.remat), shape_(x.shape()) {
    if (!remat_) remat_ = context.PageOut(x.value);
    if (remat_) {
      remat_->AddKeeper();
    } else {
      value_ = x.value;
      context.Require(value_);
    }
  }

  // Once: who needs it twice holds on to what it got.
  Tensor Get(Context& context) const {
    return remat_ ? remat_->Get(context).Reshape(shape_) : value_;
  }

 private:
  Tensor value_;
  std::shared_ptr<Remat> remat_;
  Shape shape_;
};

inline int SumsBehind(const Var& x) { return x.remat ? x.remat->sums() : 0; }

// A result that operations behind it need not keep: make(context, x) is its value again.
template <class Make>
Var RematerializedFrom(Context& context, const Var& x, Var result, Make make, int more_sums = 0) {
  if (!result.needs_gradient()) return result;
  result.remat = std::make_shared<Remat>([make = std::move(make), kept = SavedTensor(context, x)](
                                             Context& ctx) { return make(ctx, kept.Get(ctx)); },
                                         SumsBehind(x) + more_sums);
  return result;
}

// Does the same for a sum along a residual stream, but for one sum in kMostSums + 1.
template <class Make>
Var SumRematerializedFrom(Context& context, const Var& stream, Var result, Make make) {
  if (SumsBehind(stream) >= Remat::kMostSums) return result;
  return RematerializedFrom(context, stream, std::move(result), std::move(make), 1);
}

}  // namespace frugal

#include "sdk/ops/boxes.h"
#include "sdk/ops/check.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/modulation.h"

namespace frugal {

// One sample whose features all have one gate.
Var Blend(Context& context, const Var& a, const Var& b, const Var& alpha) {
  if (!(a.shape() == b.shape()) || a.shape().rank() == 0) {
    ThrowShape(context, "a mixture takes two tensors of one shape, here " + ToString(a.shape()),
               b.shape(), "make both branches end in the same shape");
  }
  if (alpha.shape().ElementCount() != 1) {
    ThrowShape(context, "a mixture has one weight", alpha.shape(), "give alpha [1]");
  }
  const Shape sample = {1, a.shape().RowCount(), a.shape().back()};
  const Var gate = Expand(context, Reshape(context, alpha, {1, 1}), {1, a.shape().back()});
  const Var rest = Modulate(context, Reshape(context, b, sample), {}, Scale(context, gate, -1));
  return Reshape(context, GatedAdd(context, Reshape(context, a, sample), gate, rest), a.shape());
}

}  // namespace frugal

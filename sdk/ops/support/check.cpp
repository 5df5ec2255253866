#include "sdk/ops/support/check.h"

#include "sdk/core/error.h"

namespace frugal {

void ThrowShape(Context& context, const std::string& required, const Shape& given,
                const std::string& advice) {
  throw ShapeError({.where = context.ledger().labels().NameOf(context.ledger().label()),
                    .required = required,
                    .given = "the input is " + ToString(given),
                    .advice = advice});
}

Tensor ReuseOrAllocate(Context& context, const Tensor& gradient) {
  if (gradient.IsSoleOwner()) return gradient;
  return context.Allocate(gradient.shape(), gradient.dtype());
}

}  // namespace frugal

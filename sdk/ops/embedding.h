#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Rows of `table` [V, D] by ids kI64 [...]: [..., D]. The row of the id `padding` (-1 = none) gets
// no gradient. Keeps the ids.
Var Embedding(Context& context, const Tensor& ids, const Parameter& table,
              std::int64_t padding = -1);

}  // namespace frugal

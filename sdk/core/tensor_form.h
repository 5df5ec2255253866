#pragma once

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"

namespace frugal {

// Says what a tensor is made of, without its memory.
struct TensorForm {
  DType dtype = DType::kF32;
  Shape shape{};

  bool operator==(const TensorForm&) const = default;
};

}  // namespace frugal

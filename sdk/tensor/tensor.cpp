#include "sdk/tensor/tensor.h"

#include "sdk/core/error.h"

namespace frugal {

Tensor::Tensor(Allocator& allocator, const Shape& shape, DType dtype, MemoryTag tag)
    : storage_(
          std::make_shared<Block>(allocator.Allocate(shape.ElementCount() * SizeOf(dtype), tag))),
      shape_(shape),
      dtype_(dtype) {}

Tensor Tensor::Reshape(const Shape& shape) const {
  if (shape.ElementCount() != size()) {
    throw ShapeError({.where = "reshape",
                      .required = "as many elements as " + ToString(shape_) + " has",
                      .given = ToString(shape),
                      .advice = ""});
  }
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

}  // namespace frugal

#include "sdk/tensor/tensor.h"

#include "sdk/core/error.h"

namespace frugal {

Tensor::Tensor(Allocator& allocator, const Shape& shape, DType dtype, MemoryTag tag)
    : storage_(std::make_shared<Block>(allocator.AllocateTensor({dtype, shape}, tag))),
      shape_(shape),
      dtype_(dtype) {}

void Tensor::ThrowType(DType asked) const {
  throw UsageError({.where = "tensor " + ToString(shape_),
                    .required = "its elements are read and written as what they are",
                    .given = "it holds " + std::string(NameOf(dtype_)) + ", and " +
                             std::string(NameOf(asked)) + " is asked for",
                    .advice = "ask for its dtype()"});
}

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

Tensor Tensor::Narrow(std::int64_t begin, std::int64_t count) const {
  if (shape_.rank() == 0 || begin < 0 || count < 0 || begin + count > shape_[0]) {
    throw ShapeError(
        {.where = "narrow",
         .required = "rows of " + ToString(shape_),
         .given = "rows " + std::to_string(begin) + " to " + std::to_string(begin + count),
         .advice = ""});
  }
  Tensor view = *this;
  const std::int64_t row_bytes = shape_[0] == 0 ? 0 : bytes() / shape_[0];
  view.offset_bytes_ += begin * row_bytes;
  view.shape_[0] = count;
  return view;
}

}  // namespace frugal

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"
#include "sdk/memory/allocator.h"

namespace frugal {

// A contiguous row-major array of one element type in shared, reference-counted storage. Copying a
// Tensor copies the reference. Images are channels-last: [N, H, W, C]. Threads: each may have
// references of its own to one storage; who writes elements while others use them is not checked.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Allocator& allocator, const Shape& shape, DType dtype, MemoryTag tag);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t size() const { return shape_.ElementCount(); }
  std::int64_t bytes() const { return size() * SizeOf(dtype_); }
  explicit operator bool() const { return storage_ != nullptr; }

  // Its elements. Throws UsageError where they are not of this type.
  template <class T>
  T* data() const {
    if (DTypeOf<T>() != dtype_ && storage_ != nullptr) ThrowType(DTypeOf<T>());
    return static_cast<T*>(raw());
  }
  template <class T>
  std::span<T> values() const {
    return {data<T>(), static_cast<std::size_t>(size())};
  }
  void* raw() const {
    return storage_ ? static_cast<std::byte*>(storage_->data()) + offset_bytes_ : nullptr;
  }

  // Returns the same storage seen under another shape of as many elements.
  Tensor Reshape(const Shape& shape) const;
  // Rows [begin, begin + count) of the first axis, in the same storage.
  Tensor Narrow(std::int64_t begin, std::int64_t count) const;
  bool SharesStorageWith(const Tensor& other) const { return storage_ == other.storage_; }
  // Returns true where this is the only reference to its storage.
  bool IsSoleOwner() const { return storage_.use_count() == 1; }
  // How many references there are, this one included; 0 of an empty tensor.
  std::int64_t OwnerCount() const { return storage_.use_count(); }
  // Expires when nobody holds its storage any more.
  std::weak_ptr<const void> Watch() const { return std::shared_ptr<const void>(storage_); }
  // Returns true where its storage was taken from that allocator.
  bool IsFrom(const Allocator& allocator) const {
    return storage_ != nullptr && storage_->IsFrom(allocator);
  }

 private:
  [[noreturn]] void ThrowType(DType asked) const;

  std::shared_ptr<Block> storage_;
  std::int64_t offset_bytes_ = 0;
  Shape shape_;
  DType dtype_ = DType::kF32;
};

}  // namespace frugal

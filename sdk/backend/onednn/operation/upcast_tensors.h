#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal::onednn {

// f32 tensors in a kernel's scratch: what stands for bf16 ones where the processor has no
// instructions for these. Must outlive its tensors.
class UpcastTensors final : public Allocator {
 public:
  // Without scratch, tensors have addresses but no memory, to ask what others need for them.
  explicit UpcastTensors(void* scratch) : begin_(reinterpret_cast<std::uintptr_t>(scratch)) {}

  Tensor Take(const Shape& shape);  // not initialized
  // Returns an f32 tensor of the same numbers, or an empty one where `bf16` is empty.
  Tensor CastToF32(const Tensor& bf16);

  std::int64_t bytes() const { return taken_; }  // so far
  void* Rest() const {
    return reinterpret_cast<void*>(begin_ + static_cast<std::uintptr_t>(taken_));
  }

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block& block) noexcept override;

  std::uintptr_t begin_;  // a number, since there may be no memory to point into
  std::int64_t taken_ = 0;
};

// Writes the numbers of `f32`, rounded, into `bf16`.
void DowncastInto(const Tensor& bf16, const Tensor& f32);

}  // namespace frugal::onednn

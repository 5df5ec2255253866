#pragma once

#include "sdk/tensor/tensor.h"

namespace frugal::onednn {

// f32 tensors in a kernel's scratch: what stands for bf16 ones where the processor has no
// instructions for these. Must outlive its tensors.
class WidenedTensors final : public Allocator {
 public:
  // Without scratch, tensors have addresses but no memory, to ask what others need for them.
  explicit WidenedTensors(void* scratch) : begin_(static_cast<std::byte*>(scratch)) {}

  Tensor Take(const Shape& shape);  // not initialized
  // Of the same numbers; of nothing, nothing.
  Tensor Widened(const Tensor& bf16);

  std::int64_t bytes() const { return taken_; }  // so far
  void* Rest() const { return begin_ + taken_; }

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block& block) noexcept override;

  std::byte* begin_;
  std::int64_t taken_ = 0;
};

// The same numbers, rounded to bf16.
void NarrowInto(const Tensor& bf16, const Tensor& f32);

}  // namespace frugal::onednn

#pragma once

#include <cstdint>
#include <utility>

#include "sdk/core/memory_tag.h"
#include "sdk/core/tensor_form.h"

namespace frugal {

// Every request is rounded up to this many bytes, in plans and in runs alike, so that blocks are
// aligned for vector instructions and planned sizes equal measured ones.
inline constexpr std::int64_t kMemoryAlignment = 64;
constexpr std::int64_t RoundUpToAlignment(std::int64_t bytes) {
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

class Allocator;

// A piece of memory that gives itself back. Move-only. Memory is not initialized.
class Block {
 public:
  Block() = default;
  // `handle` is the owner's own note on this block, handed back unchanged.
  Block(Allocator* owner, void* data, std::int64_t bytes, MemoryTag tag, std::int64_t handle = 0)
      : owner_(owner), data_(data), bytes_(bytes), handle_(handle), tag_(tag) {}
  Block(Block&& other) noexcept { Swap(other); }
  Block& operator=(Block&& other) noexcept {
    Block(std::move(other)).Swap(*this);
    return *this;
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }  // rounded up
  MemoryTag tag() const { return tag_; }
  std::int64_t handle() const { return handle_; }
  explicit operator bool() const { return owner_ != nullptr; }
  bool IsFrom(const Allocator& allocator) const { return owner_ == &allocator; }
  void Swap(Block& other) noexcept;

 private:
  Allocator* owner_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t handle_ = 0;
  MemoryTag tag_ = MemoryTag::kActivation;
};

// A source of memory. Must outlive its blocks. Threads: one uses it at a time unless it says more.
class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator() = default;

  // Returns at least `bytes` bytes (0 is allowed and takes no memory), aligned to kMemoryAlignment.
  // Throws MemoryError where a limit or the system refuses.
  Block Allocate(std::int64_t bytes, MemoryTag tag) {
    return DoAllocate(RoundUpToAlignment(bytes), tag);
  }
  // Does so for a tensor of this form, which books take down.
  Block AllocateTensor(const TensorForm& form, MemoryTag tag) {
    const std::int64_t bytes = form.shape.ElementCount() * SizeOf(form.dtype);
    return DoAllocateTensor(RoundUpToAlignment(bytes), tag, form);
  }

 protected:
  friend class Block;
  virtual Block DoAllocate(std::int64_t bytes, MemoryTag tag) = 0;  // bytes already rounded
  virtual Block DoAllocateTensor(std::int64_t bytes, MemoryTag tag, const TensorForm& /*form*/) {
    return DoAllocate(bytes, tag);
  }
  virtual void DoFree(Block& block) noexcept = 0;
};

}  // namespace frugal

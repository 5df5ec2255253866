#include "sdk/memory/allocator.h"

namespace frugal {

Block::~Block() {
  if (owner_ != nullptr) owner_->DoFree(*this);
}

void Block::Swap(Block& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(handle_, other.handle_);
  std::swap(tag_, other.tag_);
}

}  // namespace frugal

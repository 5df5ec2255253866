#include "sdk/io/block_writer.h"

#include <algorithm>
#include <new>

namespace frugal {
namespace {

// Large enough for the disk's full rate, and small enough to stay in the cache of a core.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr auto kAlignment = static_cast<std::align_val_t>(kDirectBlock);

}  // namespace

void BlockWriter::Free::operator()(std::byte* block) const {
  ::operator delete[](block, kAlignment);
}

BlockWriter::BlockWriter(FileSystem& files, int file)
    : files_(files), file_(file), block_(new (kAlignment) std::byte[kBlockBytes]) {}

std::span<std::byte> BlockWriter::Space() {
  return std::span(block_.get(), kBlockBytes).subspan(filled_);
}

std::error_code BlockWriter::Filled(std::size_t bytes) {
  filled_ += bytes;
  if (filled_ < kBlockBytes) return {};
  const std::error_code error =
      WriteAll(files_, file_, written_, std::span(block_.get(), kBlockBytes));
  written_ += static_cast<std::int64_t>(filled_);
  filled_ = 0;
  return error;
}

std::error_code BlockWriter::Finish() {
  constexpr std::size_t kMultiple = kDirectBlock;
  const std::size_t padded = (filled_ + kMultiple - 1) / kMultiple * kMultiple;
  std::fill(block_.get() + filled_, block_.get() + padded, std::byte{0});
  const std::error_code error = WriteAll(files_, file_, written_, std::span(block_.get(), padded));
  if (error || padded == filled_) return error;
  const std::int64_t size = written_ + static_cast<std::int64_t>(filled_);
  return Uninterrupted([&] { return files_.Truncate(file_, size); });
}

}  // namespace frugal

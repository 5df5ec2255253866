#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>

#include "sdk/io/file_system.h"

namespace frugal {

// Writes a file of OpenMode::kNewDirect from its first byte to its last one: the bytes are gathered
// in a block of memory that the disk can take them from.
class BlockWriter {
 public:
  BlockWriter(FileSystem& files, int file);

  // The place of the next bytes in the block, never empty: whoever fills its beginning says so by
  // Filled(), which writes a block that is full.
  std::span<std::byte> Space();
  std::error_code Filled(std::size_t bytes);
  // Writes what is left, and lets the file end with its last byte.
  std::error_code Finish();

 private:
  struct Free {
    void operator()(std::byte* block) const;
  };

  FileSystem& files_;
  int file_;
  std::unique_ptr<std::byte[], Free> block_;
  std::size_t filled_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace frugal

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sdk/io/file_system.h"

namespace frugal {

// A file that holds for a while what has no room in memory. Its name is gone as soon as it is open,
// so that nothing of it is left however the process ends. Bytes go past the system's page cache
// where the file system has that: addresses, offsets and counts are multiples of kDirectBlock.
// Threads: any may read and write other parts of it.
class PageFile {
 public:
  // Makes the file at `path`, where there must be none, with the disk's space for so many bytes.
  // Throws FileError where it cannot be made, or the disk has no room.
  PageFile(const std::string& path, std::int64_t bytes);
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  // Both throw FileError.
  void Write(std::int64_t offset, std::span<const std::byte> bytes);
  void Read(std::int64_t offset, std::span<std::byte> bytes) const;

  const std::string& path() const { return path_; }

 private:
  FileSystem& files_;
  std::string path_;
  int file_ = -1;
};

}  // namespace frugal

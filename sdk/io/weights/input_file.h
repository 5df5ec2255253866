#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace frugal {

// A regular, non-empty file, open for reading at any offset. Reads by pread, not by mapping: a file
// that another program cuts short is then an error and not a bus fault.
class InputFile {
 public:
  // Throws WeightFileError when the file is missing, a directory, empty or unreadable.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }

  // Fills `destination` from `offset` on. Throws WeightFileError when the file ends before that.
  void ReadAt(std::int64_t offset, std::span<std::byte> destination) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace frugal

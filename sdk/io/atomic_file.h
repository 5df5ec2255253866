#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace frugal {

// Writes a file so that an interruption loses nothing: the bytes go to a temporary file beside
// `path`, and Commit() renames it over `path` once all of them have reached the disk. Until then
// an older file at `path` stays as it was; without Commit() the temporary file is removed.
// Throws WeightFileError when a directory is missing, the disk is full, and so on.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }  // one past the last byte written so far

  void WriteAt(std::int64_t offset, std::span<const std::byte> bytes);
  void Append(std::span<const std::byte> bytes) { WriteAt(size_, bytes); }
  void Append(std::string_view text) { WriteAt(size_, std::as_bytes(std::span(text))); }
  void Commit();

 private:
  void OpenTemporary();
  [[noreturn]] void Refuse(const char* what) const;  // with the reason in errno

  std::string path_;  // links resolved, so that the file is replaced and not the link to it
  std::string temporary_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace frugal

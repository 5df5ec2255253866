#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace frugal {

// A file that is read from front to back, unpacked on the way when it is gzipped.
class GzipFile {
 public:
  // Throws DataError when the file is missing, not a regular file, empty or unreadable.
  explicit GzipFile(std::string path);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  const std::string& path() const { return path_; }
  bool Compressed() const;
  std::int64_t StoredBytes() const { return stored_bytes_; }  // as it lies on the disk

  // Reads until `destination` is full or the content ends; returns the bytes read. Throws DataError
  // when compressed data are cut short or damaged (checksums included, at the end of the content).
  std::size_t Read(std::span<std::uint8_t> destination);

 private:
  struct Stream;  // of zlib, whose header stays out of ours

  std::size_t ReadPlain(std::span<std::uint8_t> destination);
  std::size_t Inflate(std::span<std::uint8_t> destination);
  void Refill();
  void BeginNextMember();
  [[noreturn]] void RefuseDamage(std::string given) const;

  std::string path_;
  std::int64_t stored_bytes_ = 0;
  std::unique_ptr<Stream> stream_;
};

}  // namespace frugal

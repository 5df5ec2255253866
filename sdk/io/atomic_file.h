#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "sdk/io/block_writer.h"
#include "sdk/io/file_hash.h"
#include "sdk/io/file_system.h"
#include "sdk/io/partial_file.h"

namespace frugal {

// Says whether what is written passes through the system's page cache. Past it a large file that is
// not read again soon costs the processor less, and pushes nothing else out; where the file system
// has no such way, it passes through. A file that is left in it outlives this process and may be
// lost with the machine: that is many times as fast where files are small.
enum class PageCache : std::uint8_t { kUse, kBypass, kLeaveIn };

// Fills the part of a file's bytes, or of a tensor's, that begins at `offset`.
using FillPart = std::function<void(std::int64_t offset, std::span<std::byte> part)>;

// Writes a file so that an interruption loses nothing: the bytes go to a partial file beside it,
// and Commit() renames that over `path` once all of them have reached the disk. When it returns,
// the new name has reached it too. Until then an older file at `path` stays as it was; without
// Commit() the partial file is removed, and where the process is killed, by the next AtomicFile in
// that directory. A file that is replaced passes on its permissions, and its owner and group where
// the system allows it; a new one gets those of the process's mask. Throws FileError for a path
// that cannot be written (output_path.h), a directory that is missing, a full disk, and so on.
// After an error nothing more can be written or committed.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, PageCache cache = PageCache::kUse);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }  // one past the last byte written so far
  // XXH3-64 of all bytes, as 16 hexadecimal digits; empty where they did not come in order.
  std::string Hash() const { return in_order_ ? hash_.Hex() : ""; }

  // A file that goes past the page cache is written in order.
  void WriteAt(std::int64_t offset, std::span<const std::byte> bytes);
  void Append(std::span<const std::byte> bytes) { WriteAt(size_, bytes); }
  void Append(std::string_view text) { WriteAt(size_, std::as_bytes(std::span(text))); }
  // Appends so many bytes, which `fill` puts in place part by part, in order.
  void AppendParts(std::int64_t bytes, const FillPart& fill);
  void Commit();

 private:
  void AppendPart(std::span<const std::byte> bytes);  // which a block has already, where it is one
  void Require(const std::error_code& error, const char* what);  // that there is none, nor was one

  std::string path_;              // as it was given
  std::filesystem::path target_;  // what is replaced: not a link to it
  bool syncs_;
  FileSystem& files_;
  PartialFile partial_;
  std::optional<BlockWriter> blocks_;  // of a file that goes past the page cache
  std::error_code error_;              // the first one
  std::int64_t size_ = 0;
  FileHash hash_;
  bool in_order_ = true;
};

}  // namespace frugal

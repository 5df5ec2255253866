#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "sdk/capture/store/capture_entry.h"
#include "sdk/capture/store/mapped_file.h"

namespace frugal {

// Tells the content of a buffer before a call from that behind it.
enum class Moment : std::uint8_t { kBefore, kAfter };

// An open capture. Opening reads its manifest alone; tensors are read one at a time. A last line
// that is torn, as a crash leaves it, is left out. Threads: one uses it at a time.
class CaptureReader {
 public:
  // Throws CaptureError where there is no capture, or one of another form.
  explicit CaptureReader(std::string directory);

  const std::string& directory() const { return directory_; }
  const CaptureHeader& header() const { return header_; }
  const std::vector<CaptureEntry>& entries() const { return entries_; }
  bool torn() const { return torn_; }  // whatever made it ended in the middle of an entry

  // Returns a tensor in memory of its own, as it was recorded. Throws CaptureError where its bytes
  // are not those, and WeightFileError where its file is missing or damaged.
  Tensor Read(const CaptureEntry& entry, std::size_t buffer, Moment moment, Allocator& memory);
  // Returns a tensor that must not be written. A large one stays in its file, which it is a window
  // on; the reader must outlive it.
  Tensor View(const CaptureEntry& entry, std::size_t buffer, Moment moment, Allocator& memory);
  // Returns some of its rows, each of `row_bytes`, in memory of their own.
  Tensor ReadRows(const CaptureEntry& entry, std::size_t buffer, Moment moment,
                  std::span<const std::int64_t> rows, std::int64_t row_elements, Allocator& memory);

 private:
  const StoredContent& ContentOf(const CaptureEntry& entry, std::size_t buffer,
                                 Moment moment) const;
  Tensor ReadSmall(const CaptureEntry& entry, std::size_t buffer, Moment moment, Allocator& memory);
  // Maps a tensor's file, whose bytes are looked at once.
  MappedFile Open(const CaptureEntry& entry, std::size_t buffer, const StoredContent& content);

  std::string directory_;
  CaptureHeader header_;
  std::vector<CaptureEntry> entries_;
  bool torn_ = false;
  std::set<std::string> checked_;  // hashes of files whose bytes are right
};

}  // namespace frugal

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/atomic_file.h"
#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// Writes a weight file of any form as a stream: the list of tensors is known at the start, then
// the bytes of each come in turn, in the order of that list. The same input always gives the same
// file, byte for byte. Nothing is visible at the path before Finish(), see AtomicFile.
class WeightWriter {
 public:
  virtual ~WeightWriter() = default;

  // The whole of the next tensor, row-major. Throws UsageError when it is not the next one or has
  // another size, FileError when it cannot be written.
  void Write(std::string_view name, std::span<const std::byte> bytes);

  // The next tensor from a function, so that no more than a part of it need be in memory.
  void Write(std::string_view name, std::int64_t bytes, const FillPart& fill);

  // Completes the file and puts it in place. Throws UsageError while tensors are missing.
  void Finish();

  // The file's bytes so far, and their hash (AtomicFile::Hash), which is empty unless they came in
  // the order of the file.
  std::int64_t bytes() const { return file_.size(); }
  std::string Hash() const { return file_.Hash(); }

 protected:
  // Throws UsageError for a list that no reader would take back: a name that is empty, twice there,
  // reserved or not UTF-8, or a shape that is negative or too large.
  WeightWriter(const std::string& path, std::vector<StoredTensor> tensors,
               const WeightMetadata& metadata, PageCache cache = PageCache::kUse);

  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  AtomicFile& file() { return file_; }

  // Gathers all of it, in forms that do not take it by parts.
  virtual void WriteParts(std::size_t index, std::int64_t bytes, const FillPart& fill);

 private:
  virtual void WriteTensor(std::size_t index, std::span<const std::byte> bytes) = 0;
  virtual void WriteEnd() {}
  void CheckNext(std::string_view name, std::int64_t bytes) const;

  std::vector<StoredTensor> tensors_;
  AtomicFile file_;
  std::size_t next_ = 0;
  bool usable_ = true;  // false after Finish() and after a failed write
};

}  // namespace frugal

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// An open weight file, read one tensor at a time straight from the file: opening reads and checks
// the table of contents only, so lazy weights can come from it when they are first touched.
// Everything is const and may be called from several threads.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;

  const std::string& Path() const { return path_; }
  const std::vector<StoredTensor>& Entries() const { return entries_; }  // in file order
  const WeightMetadata& Metadata() const { return metadata_; }
  const StoredTensor* Find(std::string_view name) const;  // null when the file has no such tensor
  // The tensors whose names are `rest` behind one more component and a dot, by name.
  std::vector<const StoredTensor*> FindBelow(std::string_view rest) const;

  // Fills `destination`, of exactly ByteCount(tensor) bytes, with the elements as they are stored.
  // Throws WeightFileError when the name is unknown, the size differs, or the file cannot be read.
  void Read(const StoredTensor& tensor, std::span<std::byte> destination) const;

  // Reads and converts, rounding to nearest; `destination` holds exactly the tensor's elements.
  // A finite value that the type cannot hold is refused (1e300 as F32, 0.5 as I64). Takes a
  // temporary of the tensor's stored size only where its elements are wider than the destination.
  void ReadAsF32(std::string_view name, std::span<float> destination) const;
  void ReadAsF64(std::string_view name, std::span<double> destination) const;
  void ReadAsI64(std::string_view name, std::span<std::int64_t> destination) const;

 protected:
  WeightSource(std::string path, std::vector<StoredTensor> entries, WeightMetadata metadata);

 private:
  // Reads Entries()[index]; the size of the destination has been checked.
  virtual void ReadEntry(std::size_t index, std::span<std::byte> destination) const = 0;

  std::size_t IndexOf(std::string_view name) const;
  template <class T>
  void ReadAs(std::string_view name, std::span<T> destination) const;

  std::string path_;
  std::vector<StoredTensor> entries_;
  WeightMetadata metadata_;
  std::map<std::string_view, std::size_t> index_;  // of entries_, by name
  // The tensors are sorted by what is behind the first dot of a name, and by name where that is the
  // same.
  std::vector<std::pair<std::string_view, const StoredTensor*>> below_;
};

}  // namespace frugal

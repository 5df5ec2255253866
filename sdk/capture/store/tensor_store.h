#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"

namespace frugal {

// Tensors of at least so many bytes are stored by content, once for all entries.
inline constexpr std::int64_t kSharedTensorBytes = 16 << 10;

// Returns the path of a tensor that is stored by content in a capture's directory.
std::string SharedTensorPath(const std::string& directory, const std::string& hash);

// Writes tensors of a capture by their content: what is there already is not written again. Each is
// a safetensors file with one tensor named "tensor", whose bytes begin at a multiple of 64.
class TensorStore {
 public:
  // The directory must be there; empty: nothing is written, only counted.
  explicit TensorStore(std::string directory) : directory_(std::move(directory)) {}

  void Put(const std::string& hash, const Shape& shape, DType dtype,
           std::span<const std::byte> bytes);
  std::int64_t file_bytes() const { return file_bytes_; }  // of all files so far
  std::int64_t count() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  std::string directory_;
  std::set<std::string> known_;
  std::int64_t file_bytes_ = 0;
};

}  // namespace frugal

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "sdk/tensor/tensor.h"

namespace frugal {

// The bytes of a file that is read where it lies: pages come when they are touched. Copies share
// the mapping.
class MappedFile {
 public:
  // Throws CaptureError where the file cannot be read.
  explicit MappedFile(const std::string& path);

  const std::string& path() const;
  std::span<const std::byte> bytes() const;
  // Reads some of it past the mapping, so that no pages come. Throws CaptureError.
  void Read(std::int64_t offset, std::span<std::byte> to) const;
  // Gives pages back that were touched; they come again when they are touched again.
  void Forget() const;
  // Returns elements of the file as a tensor that keeps the mapping and must not be written.
  Tensor At(std::int64_t offset, const Shape& shape, DType dtype) const;

 private:
  class Mapping;
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace frugal

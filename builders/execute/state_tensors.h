#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "builders/execute/held_tensor.h"
#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"
#include "sdk/io/weights/weight_source.h"
#include "sdk/optim/optimizer_options.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// A training's state between two steps is made of tensors of these names, for each parameter by its
// path: "value/fc1.weight", "state.0/fc1.weight", "state.1/fc1.weight", "average/fc1.weight". Those
// that the training has not made are not there.
std::string ValueName(const std::string& path);
std::string StateName(const std::string& path, std::size_t which);

// One of them as a snapshot is written from it.
struct StateTensor {
  std::string name;
  Shape shape;
  DType dtype = DType::kF32;
  std::span<const std::byte> bytes{};
  std::shared_ptr<HeldTensor> held =
      nullptr;  // by which the bytes are read, where training goes on
  // Reads a part of one that is in no memory; null elsewhere.
  std::function<void(std::int64_t offset, std::span<std::byte> part)> read{};

  std::int64_t size() const { return shape.ElementCount() * SizeOf(dtype); }
};

// How many steps the training has behind it, and at which the schedule of its rate began.
struct TrainingPosition {
  std::int64_t step = 0;
  std::int64_t schedule_begin = 0;
};

// The tensors of a snapshot, whichever of its files holds them. Threads: any number may read.
class StateFiles {
 public:
  // Throws SnapshotError where two files hold one tensor.
  explicit StateFiles(std::vector<std::unique_ptr<WeightSource>> files);

  // Returns null where there is none of that name.
  const StoredTensor* Find(const std::string& name) const;
  // Throws SnapshotError where there is none of that name, or it has another form.
  void Require(const std::string& name, const StateForm& form) const;
  // Fills the tensor, which is of the form that the file has. Throws SnapshotError as Require does,
  // and where the file cannot be read.
  void Read(const std::string& name, const Tensor& tensor) const;
  // Returns all of a tensor that is there.
  std::vector<std::byte> BytesOf(const std::string& name) const;
  const std::vector<std::unique_ptr<WeightSource>>& files() const { return files_; }

 private:
  const WeightSource* FileOf(const std::string& name) const;

  std::vector<std::unique_ptr<WeightSource>> files_;
};

}  // namespace frugal

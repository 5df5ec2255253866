#include "builders/execute/state_tensors.h"

#include "sdk/io/snapshots/snapshot_manifest.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

std::string ValueName(const std::string& path) { return "value/" + path; }

std::string StateName(const std::string& path, std::size_t which) {
  if (which == ParameterStore::kAverage) return "average/" + path;
  return "state." + std::to_string(which) + "/" + path;
}

StateFiles::StateFiles(std::vector<std::unique_ptr<WeightSource>> files)
    : files_(std::move(files)) {
  for (const auto& file : files_) {
    for (const StoredTensor& tensor : file->Entries()) {
      const WeightSource* first = FileOf(tensor.name);
      if (first == file.get()) continue;
      throw SnapshotError({.where = file->Path(),
                           .required = "each tensor is in one file of a snapshot",
                           .given = tensor.name + " is in " + first->Path() + " too",
                           .advice = "use another snapshot"});
    }
  }
}

const WeightSource* StateFiles::FileOf(const std::string& name) const {
  for (const auto& file : files_) {
    if (file->Find(name) != nullptr) return file.get();
  }
  return nullptr;
}

const StoredTensor* StateFiles::Find(const std::string& name) const {
  const WeightSource* file = FileOf(name);
  return file == nullptr ? nullptr : file->Find(name);
}

void StateFiles::Require(const std::string& name, const StateForm& form) const {
  const WeightSource* file = FileOf(name);
  const StoredTensor* stored = file == nullptr ? nullptr : file->Find(name);
  const StoredDType dtype = ToStored(form.dtype);
  if (stored != nullptr && stored->shape == form.shape && stored->dtype == dtype) return;
  const auto describe = [](const Shape& shape, StoredDType type) {
    return ToString(shape) + " of " + std::string(NameOf(type));
  };
  throw SnapshotError(
      {.where = file == nullptr ? files_.front()->Path() : file->Path(),
       .required = name + " is " + describe(form.shape, dtype),
       .given = stored == nullptr ? "it is not there" : describe(stored->shape, stored->dtype),
       .advice = "resume with the configuration that it was saved with"});
}

void StateFiles::Read(const std::string& name, const Tensor& tensor) const {
  Require(name, {tensor.dtype(), tensor.shape()});
  const WeightSource* file = FileOf(name);
  file->Read(*file->Find(name),
             {static_cast<std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())});
}

std::vector<std::byte> StateFiles::BytesOf(const std::string& name) const {
  const WeightSource* file = FileOf(name);
  const StoredTensor& tensor = *file->Find(name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(ByteCount(tensor)));
  file->Read(tensor, bytes);
  return bytes;
}

}  // namespace frugal

#include "sdk/capture/store/tensor_store.h"

#include "sdk/io/weights/safetensors.h"

namespace frugal {

std::string SharedTensorPath(const std::string& directory, const std::string& hash) {
  return directory + "/tensors/" + hash + ".safetensors";
}

void TensorStore::Put(const std::string& hash, const Shape& shape, DType dtype,
                      std::span<const std::byte> bytes) {
  if (!known_.insert(hash).second) return;
  const std::vector<StoredTensor> tensors = {{"tensor", shape, ToStored(dtype)}};
  WeightMetadata metadata = {{"alignment", ""}};
  const auto data = static_cast<std::int64_t>(bytes.size());
  while ((SafetensorsBytes(tensors, metadata) - data) % 64 != 0) metadata["alignment"] += ' ';
  file_bytes_ += SafetensorsBytes(tensors, metadata);
  if (directory_.empty()) return;
  const auto writer =
      CreateSafetensors(SharedTensorPath(directory_, hash), tensors, metadata, PageCache::kLeaveIn);
  writer->Write("tensor", bytes);
  writer->Finish();
}

}  // namespace frugal

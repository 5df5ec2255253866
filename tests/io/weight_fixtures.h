#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sdk/io/weights/open_weights.h"

namespace frugal::testing {

struct NamedBytes {
  StoredTensor tensor;
  std::vector<std::byte> bytes;
};

template <class T>
NamedBytes Named(std::string name, Shape shape, StoredDType dtype, std::vector<T> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {{std::move(name), shape, dtype}, {bytes.begin(), bytes.end()}};
}

inline NamedBytes F32(std::string name, Shape shape, std::vector<float> values) {
  return Named(std::move(name), shape, StoredDType::kF32, std::move(values));
}

inline std::vector<StoredTensor> ListOf(const std::vector<NamedBytes>& weights) {
  std::vector<StoredTensor> list;
  for (const NamedBytes& weight : weights) list.push_back(weight.tensor);
  return list;
}

inline void WriteWeights(const std::string& path, WeightsFileFormat format,
                         const std::vector<NamedBytes>& weights,
                         const WeightMetadata& metadata = {}) {
  const auto writer = CreateWeights(path, format, ListOf(weights), metadata);
  for (const NamedBytes& weight : weights) writer->Write(weight.tensor.name, weight.bytes);
  writer->Finish();
}

inline std::vector<std::byte> ReadBytes(const WeightSource& source, const std::string& name) {
  const StoredTensor& tensor = *source.Find(name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(ByteCount(tensor)));
  source.Read(tensor, bytes);
  return bytes;
}

// A safetensors file of this header and this many bytes of data, all zero.
inline std::string Safetensors(const std::string& header, std::size_t data_bytes) {
  std::string content(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(content.data(), &length, sizeof length);
  return content + header + std::string(data_bytes, '\0');
}

}  // namespace frugal::testing

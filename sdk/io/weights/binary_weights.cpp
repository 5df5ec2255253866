#include "sdk/io/weights/binary_weights.h"

#include <cstdint>
#include <utility>

#include "sdk/io/weights/binary_table.h"

namespace frugal {
namespace {

class BinarySource final : public WeightSource {
 public:
  BinarySource(InputFile file, BinaryTable table)
      : WeightSource(file.path(), std::move(table.tensors), std::move(table.metadata)),
        file_(std::move(file)),
        offsets_(std::move(table.offsets)) {}

 private:
  void ReadEntry(std::size_t index, std::span<std::byte> destination) const override {
    file_.ReadAt(offsets_[index], destination);
  }

  InputFile file_;
  std::vector<std::int64_t> offsets_;
};

template <class T>
void PutNumber(std::string& table, T value) {
  table.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void PutText(std::string& table, const std::string& text) {
  PutNumber(table, static_cast<std::uint32_t>(text.size()));
  table += text;
}

void PutTensor(std::string& table, const StoredTensor& tensor) {
  PutText(table, tensor.name);
  PutNumber(table, static_cast<std::uint8_t>(tensor.dtype));
  PutNumber(table, static_cast<std::uint8_t>(tensor.shape.rank()));
  for (const std::int64_t extent : tensor.shape.extents()) PutNumber(table, extent);
  PutNumber(table, static_cast<std::uint64_t>(ByteCount(tensor)));
}

std::string TableOf(const std::vector<StoredTensor>& tensors, const WeightMetadata& metadata) {
  std::string table(kBinaryWeightsMagic);
  PutNumber(table, std::uint32_t{1});
  PutNumber(table, static_cast<std::uint32_t>(metadata.size()));
  for (const auto& [key, text] : metadata) {
    PutText(table, key);
    PutText(table, text);
  }
  PutNumber(table, static_cast<std::uint64_t>(tensors.size()));
  for (const StoredTensor& tensor : tensors) PutTensor(table, tensor);
  return table;
}

class BinaryWriter final : public WeightWriter {
 public:
  BinaryWriter(const std::string& path, std::vector<StoredTensor> list,
               const WeightMetadata& metadata)
      : WeightWriter(path, std::move(list), metadata) {
    file().Append(TableOf(tensors(), metadata));
  }

 private:
  void WriteTensor(std::size_t, std::span<const std::byte> bytes) override { file().Append(bytes); }
};

}  // namespace

std::unique_ptr<WeightSource> OpenBinaryWeights(const std::string& path) {
  InputFile file(path);
  BinaryTable table = ReadBinaryTable(file);
  return std::make_unique<BinarySource>(std::move(file), std::move(table));
}

std::int64_t BinaryBytes(const std::vector<StoredTensor>& tensors, const WeightMetadata& metadata) {
  std::int64_t bytes = std::ssize(TableOf(tensors, metadata));
  for (const StoredTensor& tensor : tensors) bytes += ByteCount(tensor);
  return bytes;
}

std::unique_ptr<WeightWriter> CreateBinaryWeights(const std::string& path,
                                                  std::vector<StoredTensor> tensors,
                                                  const WeightMetadata& metadata) {
  return std::make_unique<BinaryWriter>(path, std::move(tensors), metadata);
}

}  // namespace frugal

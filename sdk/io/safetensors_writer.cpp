#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "sdk/io/safetensors.h"
#include "sdk/io/safetensors_header.h"

namespace frugal {
namespace {

class SafetensorsWriter final : public WeightWriter {
 public:
  SafetensorsWriter(const std::string& path, std::vector<StoredTensor> list,
                    const WeightMetadata& metadata)
      : WeightWriter(path, std::move(list), metadata), offsets_(tensors().size()) {
    SafetensorsHeader header{.entries = Place(), .metadata = metadata};
    const std::string text = FormatSafetensorsHeader(header);
    const std::uint64_t length = text.size();
    file().Append(std::as_bytes(std::span(&length, 1)));
    file().Append(text);
    for (std::int64_t& offset : offsets_) offset += file().size();
  }

 private:
  // Places the tensors, noting each one's offset in the data.
  std::vector<SafetensorsEntry> Place() {
    std::vector<std::size_t> order(tensors().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [this](std::size_t left, std::size_t right) {
      const StoredTensor& a = tensors()[left];
      const StoredTensor& b = tensors()[right];
      return std::tie(b.dtype, a.name) < std::tie(a.dtype, b.name);  // dtype falls, name rises
    });
    std::vector<SafetensorsEntry> entries;
    std::int64_t at = 0;
    for (const std::size_t index : order) {
      const StoredTensor& tensor = tensors()[index];
      offsets_[index] = at;
      entries.push_back({tensor, at, at + ByteCount(tensor)});
      at = entries.back().end;
    }
    return entries;
  }

  void WriteTensor(std::size_t index, std::span<const std::byte> bytes) override {
    file().WriteAt(offsets_[index], bytes);
  }

  std::vector<std::int64_t> offsets_;  // of each tensor, in bytes from the start of the file
};

}  // namespace

std::unique_ptr<WeightWriter> CreateSafetensors(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata) {
  return std::make_unique<SafetensorsWriter>(path, std::move(tensors), metadata);
}

}  // namespace frugal

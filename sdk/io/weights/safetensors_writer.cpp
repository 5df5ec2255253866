#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "sdk/io/weights/safetensors.h"
#include "sdk/io/weights/safetensors_header.h"

namespace frugal {
namespace {

// A file's header, and where it places each tensor of the list.
struct Contents {
  SafetensorsHeader header;
  std::vector<std::int64_t> offsets;  // of each tensor of the list, from the end of the header
};

Contents ContentsOf(const std::vector<StoredTensor>& tensors, const WeightMetadata& metadata) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t left, std::size_t right) {
    const StoredTensor& a = tensors[left];
    const StoredTensor& b = tensors[right];
    return std::tie(b.dtype, a.name) < std::tie(a.dtype, b.name);  // dtype falls, name rises
  });
  Contents contents = {{.entries = {}, .metadata = metadata},
                       std::vector<std::int64_t>(tensors.size())};
  std::int64_t at = 0;
  for (const std::size_t index : order) {
    const StoredTensor& tensor = tensors[index];
    contents.offsets[index] = at;
    contents.header.entries.push_back({tensor, at, at + ByteCount(tensor)});
    at = contents.header.entries.back().end;
  }
  return contents;
}

class SafetensorsWriter final : public WeightWriter {
 public:
  SafetensorsWriter(const std::string& path, std::vector<StoredTensor> list,
                    const WeightMetadata& metadata, PageCache cache)
      : WeightWriter(path, std::move(list), metadata, cache) {
    Contents contents = ContentsOf(tensors(), metadata);
    const std::string text = FormatSafetensorsHeader(contents.header);
    const std::uint64_t length = text.size();
    file().Append(std::as_bytes(std::span(&length, 1)));
    file().Append(text);
    offsets_ = std::move(contents.offsets);
    for (std::int64_t& offset : offsets_) offset += file().size();
  }

 private:
  void WriteTensor(std::size_t index, std::span<const std::byte> bytes) override {
    file().WriteAt(offsets_[index], bytes);
  }
  void WriteParts(std::size_t index, std::int64_t bytes, const FillPart& fill) override {
    if (offsets_[index] != file().size()) return WeightWriter::WriteParts(index, bytes, fill);
    file().AppendParts(bytes, fill);
  }

  std::vector<std::int64_t> offsets_;  // of each tensor, in bytes from the start of the file
};

}  // namespace

std::int64_t SafetensorsBytes(const std::vector<StoredTensor>& tensors,
                              const WeightMetadata& metadata) {
  const SafetensorsHeader header = ContentsOf(tensors, metadata).header;
  const std::int64_t data = header.entries.empty() ? 0 : header.entries.back().end;
  return static_cast<std::int64_t>(sizeof(std::uint64_t)) +
         std::ssize(FormatSafetensorsHeader(header)) + data;
}

std::unique_ptr<WeightWriter> CreateSafetensors(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata, PageCache cache) {
  return std::make_unique<SafetensorsWriter>(path, std::move(tensors), metadata, cache);
}

}  // namespace frugal

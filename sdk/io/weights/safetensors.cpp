#include "sdk/io/weights/safetensors.h"

#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/io/weights/input_file.h"
#include "sdk/io/weights/safetensors_header.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

constexpr std::int64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the safetensors library

class SafetensorsSource final : public WeightSource {
 public:
  SafetensorsSource(InputFile file, std::vector<StoredTensor> entries,
                    std::vector<std::int64_t> offsets, WeightMetadata metadata)
      : WeightSource(file.path(), std::move(entries), std::move(metadata)),
        file_(std::move(file)),
        offsets_(std::move(offsets)) {}

 private:
  void ReadEntry(std::size_t index, std::span<std::byte> destination) const override {
    file_.ReadAt(offsets_[index], destination);
  }

  InputFile file_;
  std::vector<std::int64_t> offsets_;  // of each entry, in bytes from the start of the file
};

std::int64_t ReadHeaderLength(const InputFile& file) {
  if (file.size() < kLengthBytes + 2) {
    RefuseWeights(file.path(), "a safetensors file begins with 8 bytes of length and a header",
                  "this one has " + std::to_string(file.size()) + " bytes in all",
                  "the file is cut short or of another kind");
  }
  std::uint64_t length = 0;
  file.ReadAt(0, std::as_writable_bytes(std::span(&length, 1)));
  const auto room = static_cast<std::uint64_t>(file.size() - kLengthBytes);
  if (length <= room && length <= kMaxHeaderBytes) return static_cast<std::int64_t>(length);
  RefuseWeights(file.path(), "the first 8 bytes give the length of the header",
                "they say " + std::to_string(length) + " bytes, " +
                    (length > room ? "more than the " + std::to_string(room) + " that follow"
                                   : std::string("more than 100,000,000")),
                "the file is cut short or of another kind");
}

}  // namespace

std::unique_ptr<WeightSource> OpenSafetensors(const std::string& path) {
  InputFile file(path);
  const std::int64_t length = ReadHeaderLength(file);
  std::string text(static_cast<std::size_t>(length), '\0');
  file.ReadAt(kLengthBytes, std::as_writable_bytes(std::span(text)));
  const std::int64_t data_begin = kLengthBytes + length;
  SafetensorsHeader header = ParseSafetensorsHeader(path, text, file.size() - data_begin);

  std::vector<StoredTensor> entries;
  std::vector<std::int64_t> offsets;
  for (SafetensorsEntry& entry : header.entries) {
    entries.push_back(std::move(entry.tensor));
    offsets.push_back(data_begin + entry.begin);
  }
  return std::make_unique<SafetensorsSource>(std::move(file), std::move(entries),
                                             std::move(offsets), std::move(header.metadata));
}

}  // namespace frugal

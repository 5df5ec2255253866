#include "sdk/io/weights/json_weights.h"

#include <algorithm>
#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/io/weights/input_file.h"
#include "sdk/io/weights/json_index.h"
#include "sdk/io/weights/json_number.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 16;  // far longer than any number we write

std::string_view Trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

class JsonSource final : public WeightSource {
 public:
  JsonSource(InputFile file, JsonIndex index)
      : WeightSource(file.path(), std::move(index.tensors), std::move(index.metadata)),
        file_(std::move(file)),
        ranges_(std::move(index.ranges)) {}

 private:
  void ReadEntry(std::size_t index, std::span<std::byte> destination) const override;
  std::string_view ReadPiece(std::int64_t begin, std::int64_t end, std::string& buffer) const;
  void Parse(const StoredTensor& entry, std::string_view text, std::size_t element,
             std::byte* destination) const;

  InputFile file_;
  std::vector<JsonDataRange> ranges_;
};

// Text from `begin` on, up to the last comma that the buffer reached, or to the end of the list.
std::string_view JsonSource::ReadPiece(std::int64_t begin, std::int64_t end,
                                       std::string& buffer) const {
  buffer.resize(static_cast<std::size_t>(std::min(kPieceBytes, end - begin)));
  file_.ReadAt(begin, std::as_writable_bytes(std::span(buffer)));
  if (begin + std::ssize(buffer) == end) return buffer;
  return std::string_view(buffer).substr(0, buffer.rfind(',') + 1);
}

void JsonSource::Parse(const StoredTensor& entry, std::string_view text, std::size_t element,
                       std::byte* destination) const {
  const std::string_view number = Trim(text);
  if (ParseJsonNumber(number, entry.dtype, destination)) return;
  RefuseWeights(Path(), Describe(entry) + " holds numbers of its dtype",
                "element " + FormatCount(static_cast<std::int64_t>(element)) + " is " +
                    std::string(number.substr(0, 40)),
                "correct it, or give another dtype");
}

void JsonSource::ReadEntry(std::size_t index, std::span<std::byte> destination) const {
  const StoredTensor& entry = Entries()[index];
  const auto size = static_cast<std::size_t>(SizeOf(entry.dtype));
  std::int64_t at = ranges_[index].begin;
  std::string buffer;
  std::string_view piece;
  for (std::size_t element = 0; element * size < destination.size(); ++element) {
    if (piece.empty()) {
      piece = ReadPiece(at, ranges_[index].end, buffer);
      at += std::ssize(piece);
    }
    const std::size_t comma = std::min(piece.find(','), piece.size());
    Parse(entry, piece.substr(0, comma), element, destination.data() + element * size);
    piece.remove_prefix(std::min(comma + 1, piece.size()));
  }
}

}  // namespace

std::unique_ptr<WeightSource> OpenJsonWeights(const std::string& path) {
  InputFile file(path);
  JsonIndex index = IndexJsonWeights(path);
  return std::make_unique<JsonSource>(std::move(file), std::move(index));
}

}  // namespace frugal

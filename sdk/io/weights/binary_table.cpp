#include "sdk/io/weights/binary_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sdk/core/utf8.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

constexpr const char* kDamaged = "the file is damaged; fetch or write it again";

// Reads the table from front to back, never past the end of the file, and by pieces: a table has
// several numbers for each tensor.
class TableReader {
 public:
  explicit TableReader(const InputFile& file) : file_(file) {}

  std::int64_t position() const { return position_; }
  std::int64_t remaining() const { return file_.size() - position_; }

  template <class T>
  T Number() {
    T value{};
    Fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  std::string Text() {
    const auto length = Number<std::uint32_t>();
    CheckRoom(length);
    std::string text(length, '\0');
    Fill(std::as_writable_bytes(std::span(text)));
    if (!IsUtf8(text)) Refuse("names and metadata are UTF-8", "one of them is not");
    return text;
  }

  [[noreturn]] void Refuse(std::string required, std::string given) const {
    RefuseWeights(file_.path(), std::move(required), std::move(given), kDamaged);
  }

 private:
  void CheckRoom(std::size_t bytes) const {
    if (std::cmp_less_equal(bytes, remaining())) return;
    Refuse("the list of tensors lies inside the file", "it runs past the end");
  }

  void Fill(std::span<std::byte> destination) {
    CheckRoom(destination.size());
    while (!destination.empty()) {
      if (position_ == piece_begin_ + std::ssize(piece_)) ReadPiece();
      const std::span<const std::byte> rest =
          std::span(piece_).subspan(static_cast<std::size_t>(position_ - piece_begin_));
      const std::size_t count = std::min(rest.size(), destination.size());
      std::ranges::copy(rest.first(count), destination.begin());
      destination = destination.subspan(count);
      position_ += static_cast<std::int64_t>(count);
    }
  }

  void ReadPiece() {
    constexpr std::int64_t kPieceBytes = 1 << 16;
    piece_.resize(static_cast<std::size_t>(std::min(kPieceBytes, remaining())));
    file_.ReadAt(position_, piece_);
    piece_begin_ = position_;
  }

  const InputFile& file_;
  std::int64_t position_ = 0;
  std::vector<std::byte> piece_;  // of the file, from piece_begin_ on; position_ lies in it
  std::int64_t piece_begin_ = 0;
};

void ReadMagic(TableReader& reader, const std::string& path) {
  std::string magic(kBinaryWeightsMagic.size(), '\0');
  if (reader.remaining() < std::ssize(magic)) magic.clear();
  for (char& letter : magic) letter = reader.Number<char>();
  if (magic != kBinaryWeightsMagic) {
    RefuseWeights(path, "a binary weight file begins with the letters FRUGALWT",
                  "this one does not", "it is damaged or of another kind");
  }
  const auto version = reader.Number<std::uint32_t>();
  if (version == 1) return;
  RefuseWeights(path, "the binary form has version 1",
                "this file has version " + std::to_string(version),
                "read it with the release of frugal that wrote it");
}

WeightMetadata ReadPairs(TableReader& reader) {
  WeightMetadata metadata;
  for (auto left = reader.Number<std::uint32_t>(); left > 0; --left) {
    const std::string key = reader.Text();
    if (!metadata.emplace(key, reader.Text()).second) {
      reader.Refuse("every key of the metadata is there once", QuotedName(key) + " is there twice");
    }
  }
  return metadata;
}

StoredDType ReadType(TableReader& reader, const std::string& name) {
  const auto code = reader.Number<std::uint8_t>();
  if (code < kStoredDTypeCount) return static_cast<StoredDType>(code);
  reader.Refuse("tensor " + QuotedName(name) + " has a dtype code from 0 to 12",
                "it is " + std::to_string(code));
}

Shape ReadShape(TableReader& reader, const std::string& name) {
  const auto rank = reader.Number<std::uint8_t>();
  if (rank > Shape::kMaxRank) {
    reader.Refuse("tensor " + QuotedName(name) + " has at most 8 dimensions",
                  std::to_string(rank) + " are given");
  }
  std::vector<std::int64_t> extents(rank);
  for (std::int64_t& extent : extents) extent = reader.Number<std::int64_t>();
  return Shape(extents);
}

StoredTensor ReadTensor(TableReader& reader) {
  StoredTensor tensor;
  tensor.name = reader.Text();
  tensor.dtype = ReadType(reader, tensor.name);
  tensor.shape = ReadShape(reader, tensor.name);
  const auto stored = reader.Number<std::uint64_t>();
  const auto bytes = CheckedByteCount(tensor.shape, tensor.dtype);
  if (!bytes) {
    reader.Refuse("tensor " + QuotedName(tensor.name) + " has a shape that fits memory",
                  ToString(tensor.shape) + " is given");
  }
  if (std::cmp_not_equal(*bytes, stored)) {
    reader.Refuse(Describe(tensor) + " takes " + std::to_string(*bytes) + " bytes",
                  std::to_string(stored) + " are given");
  }
  return tensor;
}

void ReadTensors(TableReader& reader, BinaryTable& table) {
  std::set<std::string> names;
  for (auto left = reader.Number<std::uint64_t>(); left > 0; --left) {
    StoredTensor tensor = ReadTensor(reader);
    if (!names.insert(tensor.name).second) {
      reader.Refuse("every tensor is listed once", QuotedName(tensor.name) + " is there twice");
    }
    table.tensors.push_back(std::move(tensor));
  }
}

// Gives every tensor its place behind the table.
void PlaceTensors(TableReader& reader, BinaryTable& table, const std::string& path) {
  std::int64_t left = reader.remaining();
  std::int64_t at = reader.position();
  for (const StoredTensor& tensor : table.tensors) {
    const std::int64_t bytes = ByteCount(tensor);
    if (bytes > left) {
      RefuseWeights(path, Describe(tensor) + " takes " + std::to_string(bytes) + " bytes",
                    "only " + std::to_string(left) + " are left in the file",
                    "it is cut short; fetch or write it again");
    }
    table.offsets.push_back(at);
    at += bytes;
    left -= bytes;
  }
  if (left == 0) return;
  reader.Refuse("the file ends with its last tensor", std::to_string(left) + " bytes follow it");
}

}  // namespace

BinaryTable ReadBinaryTable(const InputFile& file) {
  TableReader reader(file);
  ReadMagic(reader, file.path());
  BinaryTable table;
  table.metadata = ReadPairs(reader);
  ReadTensors(reader, table);
  PlaceTensors(reader, table, file.path());
  return table;
}

}  // namespace frugal

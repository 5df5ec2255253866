#include "sdk/data/gzip_idx.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/data/gzip_file.h"

namespace frugal {
namespace {

constexpr std::uint8_t kUnsignedBytes = 0x08;
constexpr std::int64_t kMaxDeflateRatio = 1032;  // https://zlib.net/zlib_tech.html

[[noreturn]] void Refuse(const GzipFile& file, std::string required, std::string given,
                         std::string advice = "name the right file, or fetch it again") {
  throw DataError({.where = file.path(),
                   .required = std::move(required),
                   .given = std::move(given),
                   .advice = std::move(advice)});
}

std::string TypeName(std::uint8_t type) {
  switch (type) {
    case 0x09:
      return "signed bytes";
    case 0x0B:
      return "16-bit integers";
    case 0x0C:
      return "32-bit integers";
    case 0x0D:
      return "32-bit floats";
    case 0x0E:
      return "64-bit floats";
    default:
      return "an unknown type";
  }
}

// Returns the rank.
std::size_t ReadMagic(GzipFile& file) {
  std::array<std::uint8_t, 4> magic{};
  if (file.Read(magic) < magic.size() || magic[0] != 0 || magic[1] != 0 || magic[3] == 0) {
    Refuse(file, "an IDX file begins with the bytes 0, 0, type and rank", "this one does not");
  }
  if (magic[2] != kUnsignedBytes) {
    Refuse(file, "IDX files of unsigned bytes are supported",
           "this one holds " + TypeName(magic[2]), "convert it");
  }
  if (magic[3] > Shape::kMaxRank) {
    Refuse(file, "an IDX file has at most 8 dimensions",
           "this one has " + std::to_string(magic[3]));
  }
  return magic[3];
}

Shape ReadShape(GzipFile& file, std::size_t rank) {
  std::vector<std::int64_t> extents(rank);
  for (std::int64_t& extent : extents) {
    std::array<std::uint8_t, 4> digits{};
    if (file.Read(digits) < digits.size())
      Refuse(file, "an IDX file gives its extents", "it ends before");
    for (const std::uint8_t digit : digits) extent = extent * 256 + digit;
  }
  return Shape(extents);
}

// So that nobody allocates what a damaged header announces.
void CheckPlausible(const GzipFile& file, const Shape& shape) {
  const std::int64_t bound = file.StoredBytes() * (file.Compressed() ? kMaxDeflateRatio : 1);
  std::int64_t left = bound;  // bound / product of the extents so far
  for (const std::int64_t extent : shape.extents()) {
    if (extent == 0) return;
    left /= extent;
  }
  if (left > 0) return;
  Refuse(file, "the elements of shape " + ToString(shape) + " lie in the file",
         "it has only " + FormatBytes(file.StoredBytes()));
}

Shape ReadHeader(GzipFile& file) {
  const Shape shape = ReadShape(file, ReadMagic(file));
  CheckPlausible(file, shape);
  return shape;
}

void CheckHeader(GzipFile& file, const Shape& expected) {
  const Shape shape = ReadHeader(file);
  if (shape == expected) return;
  Refuse(file, "shape " + ToString(expected) + " is expected", "the file has " + ToString(shape),
         "correct the description of the data set, or name the right file");
}

void CheckRoom(const GzipFile& file, std::int64_t wanted, std::int64_t room) {
  if (room == wanted) return;
  Refuse(file, FormatCount(wanted) + " elements are read", "there is room for " + FormatCount(room),
         {});
}

// Fills `part` with the elements from `begin` on.
void ReadPart(GzipFile& file, const Shape& shape, std::int64_t begin,
              std::span<std::uint8_t> part) {
  const std::size_t got = file.Read(part);
  if (got == part.size()) return;
  Refuse(file, "shape " + ToString(shape) + " has " + FormatCount(shape.ElementCount()) + " bytes",
         "the file ends after " + FormatCount(begin + static_cast<std::int64_t>(got)),
         "fetch it again");
}

void CheckEnd(GzipFile& file) {
  std::array<std::uint8_t, 1> more{};  // reading to the end also makes zlib compare the checksum
  if (file.Read(more) == 0) return;
  Refuse(file, "the file ends with its last element", "more bytes follow", "fetch it again");
}

}  // namespace

IdxHeader ReadIdxHeader(const std::string& path) {
  GzipFile file(path);
  return {ReadHeader(file)};
}

void ReadIdxInto(const std::string& path, const Shape& expected,
                 std::span<std::uint8_t> destination) {
  GzipFile file(path);
  CheckHeader(file, expected);
  CheckRoom(file, expected.ElementCount(), std::ssize(destination));
  ReadPart(file, expected, 0, destination);
  CheckEnd(file);
}

void ReadIdxRowsInto(const std::string& path, const Shape& expected,
                     std::span<const std::uint8_t> keep, std::span<std::uint8_t> destination) {
  GzipFile file(path);
  CheckHeader(file, expected);
  const auto kept = std::ssize(keep) - std::ranges::count(keep, std::uint8_t{0});
  const auto rows = static_cast<std::int64_t>(keep.size());
  const std::int64_t row = rows == 0 ? 0 : expected.ElementCount() / rows;
  CheckRoom(file, kept * row, std::ssize(destination));
  std::vector<std::uint8_t> skipped(static_cast<std::size_t>(row));
  std::size_t at = 0;
  for (std::size_t n = 0; n < keep.size(); ++n) {
    const auto begin = static_cast<std::int64_t>(n) * row;
    if (keep[n] == 0) {
      ReadPart(file, expected, begin, skipped);
      continue;
    }
    ReadPart(file, expected, begin, destination.subspan(at, skipped.size()));
    at += skipped.size();
  }
  CheckEnd(file);
}

}  // namespace frugal

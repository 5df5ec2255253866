#include "sdk/data/gzip_idx.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/fuzz/readers/packing.h"

namespace frugal::testing {
namespace {

void ReadRows(const std::string& path, const Shape& shape) {
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(shape[0]));
  for (std::size_t row = 0; row < keep.size(); row += 2) keep[row] = 1;
  const std::int64_t kept = (shape[0] + 1) / 2;
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(kept * (shape.ElementCount() / shape[0])));
  ReadIdxRowsInto(path, shape, keep, bytes);
}

void Read(const std::string& path) {
  const Shape shape = ReadIdxHeader(path).shape;
  {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape.ElementCount()));
    ReadIdxInto(path, shape, bytes);
  }
  if (shape.ElementCount() > 0) ReadRows(path, shape);
}

// An IDX file of these extents with so many bytes behind them.
std::string Idx(const std::vector<std::uint32_t>& extents, std::size_t elements, char type = 8) {
  std::string content = {0, 0, type, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      content += static_cast<char>(extent >> shift & 0xFF);
    }
  }
  return content + std::string(elements, '\x55');
}

constexpr std::uint32_t kMost = 0xFFFFFFFF;
const char* const kNotThere = "lie in the file";

std::vector<FileCase> PlainCases() {
  return {
      {"valid", Idx({3, 2, 2}, 12), ""},
      {"valid_labels", Idx({5}, 5), ""},
      {"no_rows", Idx({0, 28, 28}, 0), ""},
      {"huge_rows_of_nothing", Idx({kMost, 0}, 0), ""},
      {"count_huge", Idx({kMost}, 10), kNotThere},
      {"counts_huge", Idx({kMost, kMost, kMost}, 10), kNotThere},
      {"counts_overflow", Idx(std::vector<std::uint32_t>(8, kMost), 10), kNotThere},
      {"counts_wrap_to_zero", Idx({1u << 31, 1u << 31, 4}, 0), kNotThere},
      {"count_beyond_file", Idx({40}, 31), kNotThere},
      {"rank_0", Idx({}, 1), "begins with the bytes 0, 0, type and rank"},
      {"rank_9", Idx({1, 1, 1, 1, 1, 1, 1, 1, 1}, 1), "at most 8 dimensions"},
      {"rank_255", std::string("\0\0\x08\xFF", 4) + std::string(1020, '\1'),
       "at most 8 dimensions"},
      {"type_of_floats", Idx({1}, 4, 0x0D), "this one holds 32-bit floats"},
      {"type_unknown", Idx({1}, 4, 0x7F), "an unknown type"},
      {"magic_cut_short", std::string("\0\0\x08", 3), "begins with the bytes"},
      {"extents_cut_short", Idx({2, 2}, 0).substr(0, 9), "it ends before"},
      {"data_cut_short", Idx({20}, 19), "the file ends after 19"},
      {"bytes_behind", Idx({2}, 3), "more bytes follow"},
      {"empty", "", "this file is empty"},
  };
}

std::string Members(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += Pack("", Packing::kGzip);
  return all;
}

std::vector<FileCase> PackedCases() {
  const std::string packed = Pack(Idx({3, 2, 2}, 12), Packing::kGzip);
  const std::size_t size = packed.size();
  std::string checksum = packed;
  checksum[size - 8] = static_cast<char>(checksum[size - 8] ^ 1);
  std::string length = packed;
  length[size - 1] = '\x7F';
  std::string reserved = packed;
  reserved[3] = '\xE0';
  std::string endless_name = packed.substr(0, 10) + std::string(5000, 'n');
  endless_name[3] = 8;  // FNAME, whose zero byte never comes
  return {
      {"gzip_valid", packed, ""},
      {"gzip_empty_members", Members(2000) + packed + Members(2000), ""},
      {"gzip_members", Pack(Idx({4}, 2), Packing::kGzip) + Pack("xy", Packing::kGzip), ""},
      {"gzip_zeros_behind", packed + std::string(512, '\0'), ""},
      {"gzip_bomb_behind", Pack(Idx({1}, 10'000'000), Packing::kGzip), "more bytes follow"},
      {"gzip_bomb_announced", Pack(Idx({kMost}, 1'000'000), Packing::kGzip), kNotThere},
      {"gzip_bomb_of_extents", Pack(Idx({2000, 2000, 2000}, 100'000), Packing::kGzip), kNotThere},
      {"gzip_bomb_within_the_ratio", Pack(Idx({2000}, 100'000), Packing::kGzip),
       "more bytes follow"},
      {"gzip_header_alone", packed.substr(0, 10), "cut short"},
      {"gzip_cut_short", packed.substr(0, size - 10), "cut short"},
      {"gzip_trailer_cut_short", packed.substr(0, size - 1), "cut short"},
      {"gzip_other_checksum", checksum, "are damaged"},
      {"gzip_other_length", length, "are damaged"},
      {"gzip_reserved_flags", reserved, "are damaged"},
      {"gzip_endless_name", endless_name, "cut short"},
      {"gzip_of_gzip", Pack(packed, Packing::kGzip), "begins with the bytes"},
      {"gzip_second_member_damaged", packed + packed.substr(0, 10) + std::string(20, '\xFF'),
       "are damaged"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = PlainCases();
  const std::vector<FileCase> more = PackedCases();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

// A byte of a gzip file may hold 1,032 of its content, which are allocated for the caller.
FileReader IdxFileReader() {
  return {.name = "idx",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = std::size_t{2} * 1032,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing

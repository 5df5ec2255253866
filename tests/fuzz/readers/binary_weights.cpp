#include "sdk/io/weights/binary_weights.h"

#include "tests/fuzz/readers/every_tensor.h"
#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {
namespace {

void Read(const std::string& path) { ReadEveryTensor(*OpenBinaryWeights(path)); }

constexpr std::uint64_t kMost = ~std::uint64_t{0};

// A file that is put together number by number, as binary_table.h describes it.
struct Content {
  std::string text = "FRUGALWT";

  template <class T>
  Content& Put(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Content& Text(const std::string& letters) {
    Put(static_cast<std::uint32_t>(letters.size()));
    text += letters;
    return *this;
  }
  Content& Head(std::uint32_t pairs = 0) { return Put(std::uint32_t{1}).Put(pairs); }
  // One tensor of the list; its data have four bytes for each element, unless given.
  Content& Tensor(const std::string& name, const std::vector<std::int64_t>& extents,
                  std::uint64_t bytes, std::uint8_t dtype = 9) {
    Text(name).Put(dtype).Put(static_cast<std::uint8_t>(extents.size()));
    for (const std::int64_t extent : extents) Put(extent);
    return Put(bytes);
  }
  Content& Data(std::size_t bytes) {
    text.append(bytes, '\x3C');
    return *this;
  }
};

Content Tensors(std::uint64_t count) { return Content().Head().Put(count); }

std::string One(const std::vector<std::int64_t>& extents, std::uint64_t bytes,
                std::size_t data_bytes, std::uint8_t dtype = 9) {
  return Tensors(1).Tensor("w", extents, bytes, dtype).Data(data_bytes).text;
}

std::vector<FileCase> ReadCases() {
  Content valid = Content().Head(1).Text("k").Text("v").Put(std::uint64_t{2});
  valid.Tensor("a.b", {2, 1}, 8).Tensor("c", {}, 8, 11).Data(16);
  return {
      {"valid", valid.text, ""},
      {"no_tensors", Tensors(0).text, ""},
      {"no_elements", One({0, 3}, 0, 0), ""},
      {"nul_in_name", Tensors(1).Tensor(std::string("a\0b", 3), {1}, 4).Data(4).text, ""},
      {"other_magic", "FRUGALWX", "the letters FRUGALWT"},
      {"magic_cut_short", "FRUG", "the letters FRUGALWT"},
      {"other_version", Content().Put(std::uint32_t{2}).text, "this file has version 2"},
  };
}

const char* const kRunsOut = "it runs past the end";

std::vector<FileCase> TableCases() {
  return {
      {"tensors_huge", Tensors(kMost).text, kRunsOut},
      {"tensors_more_than_listed", Tensors(3).Tensor("w", {1}, 4).Data(4).text, kRunsOut},
      {"pairs_huge", Content().Head(0xFFFFFFFF).Put(kMost).text, kRunsOut},
      {"name_huge", Tensors(1).Put(0xFFFFFFFFu).text, kRunsOut},
      {"name_longer_than_file", Tensors(1).Put(100u).Data(99).text, kRunsOut},
      {"non_utf8_name", Tensors(1).Tensor("\xFF\xFE", {1}, 4).Data(4).text, "UTF-8"},
      {"non_utf8_metadata", Content().Head(1).Text("k").Text("\xC0\x80").Put(std::uint64_t{0}).text,
       "UTF-8"},
      {"duplicate_name", Tensors(2).Tensor("w", {1}, 4).Tensor("w", {1}, 4).Data(8).text,
       "'w' is there twice"},
      {"duplicate_metadata",
       Content().Head(2).Text("k").Text("v").Text("k").Text("w").Put(std::uint64_t{0}).text,
       "'k' is there twice"},
      {"dtype_13", One({1}, 4, 4, 13), "a dtype code from 0 to 12"},
      {"dtype_255", One({1}, 4, 4, 255), "a dtype code from 0 to 12"},
      {"rank_9", One({1, 1, 1, 1, 1, 1, 1, 1, 1}, 4, 4), "at most 8 dimensions"},
      {"rank_255", Tensors(1).Text("w").Put(std::uint16_t{0xFF09}).Data(200).text,
       "at most 8 dimensions"},
      {"shape_negative", One({-1}, 4, 4), "fits memory"},
      {"shape_negative_twice", One({-2, -2}, 16, 16), "fits memory"},
      {"shape_overflow", One({std::int64_t{1} << 32, std::int64_t{1} << 32, 16}, 0, 0),
       "fits memory"},
      {"shape_overflow_with_zero", One({0, std::int64_t{1} << 62, 4}, 0, 0), "fits memory"},
      {"shape_beyond_file", One({std::int64_t{1} << 40}, std::uint64_t{1} << 42, 4),
       "only 4 are left"},
      {"bytes_unlike_shape", One({1}, 8, 8), "takes 4 bytes; 8 are given"},
      {"bytes_huge", One({1}, kMost, 4), "takes 4 bytes"},
      {"data_cut_short", One({2}, 8, 7), "only 7 are left"},
      {"data_together_beyond_file",
       Tensors(2).Tensor("a", {2}, 8).Tensor("b", {2}, 8).Data(12).text, "only 4 are left"},
      {"bytes_behind", One({1}, 4, 5), "1 bytes follow it"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = ReadCases();
  const std::vector<FileCase> more = TableCases();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

FileReader BinaryWeightsFileReader() {
  return {.name = "binary_weights",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 64,
          .fixed_bytes = std::size_t{1} << 20};
}

}  // namespace frugal::testing

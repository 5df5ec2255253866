#include "sdk/io/png_reader.h"
#include "sdk/io/whole_file.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/fuzz/readers/packing.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kMostPixels = 1 << 16;

std::int64_t BigEndian(const std::string& file, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value * 256 + static_cast<unsigned char>(file[i]);
  }
  return value;
}

// The caller says which size it wants: the image's, as far as that is no large one.
Shape WantedShape(const std::string& path) {
  const std::string file = ReadWholeFile(path);
  if (file.size() < 24) return {1, 1, 1};
  const std::int64_t width = BigEndian(file, 16);
  const std::int64_t height = BigEndian(file, 20);
  if (width == 0 || height == 0 || width > kMostPixels || height > kMostPixels / width) {
    return {1, 1, 1};
  }
  return {height, width, 1};
}

void Read(const std::string& path) {
  Shape shape = WantedShape(path);
  ReadPng(path, shape);
  shape[2] = 3;
  ReadPng(path, shape);
}

std::string Number(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xFF);
  return text;
}

// The chunk IHDR; colour 0 is grey, 2 colours, 3 a palette, 6 colours with alpha.
std::string Head(std::uint32_t width, std::uint32_t height, char depth = 8, char colour = 0,
                 char interlaced = 0) {
  const std::string data =
      Number(width) + Number(height) + std::string{depth, colour, 0, 0, interlaced};
  return PngChunk("IHDR", data);
}

std::string Data(const std::string& rows) { return PngChunk("IDAT", Pack(rows, Packing::kZlib)); }

// Bytes that pack to a thousandth.
std::string Bomb(std::size_t bytes) { return std::string(bytes, '\0'); }

std::string File(const std::string& chunks) {
  return std::string(kPngSignature) + chunks + PngChunk("IEND", "");
}

std::vector<FileCase> ReadCases() {
  const std::string palette = PngChunk("PLTE", "abcdef");
  const std::string grey = Head(2, 2);
  const std::string rows = Data(std::string("\0ab\1cd", 6));
  return {
      {"valid_grey", File(grey + rows), ""},
      {"valid_colours", File(Head(1, 1, 8, 2) + Data(std::string("\0abc", 4))), ""},
      {"valid_palette",
       File(Head(2, 1, 8, 3) + palette + PngChunk("tRNS", "\x10") + Data(std::string("\0\0\1", 3))),
       ""},
      {"valid_alpha_interlaced", File(Head(1, 1, 8, 6, 1) + Data(std::string("\0abcd", 5))), ""},
      {"valid_16_bits", File(Head(1, 1, 16) + Data(std::string("\0ab", 3))), ""},
      {"valid_one_bit", File(Head(9, 1, 1) + Data(std::string("\0\xAA\x80", 3))), ""},
      {"gamma", File(Head(2, 2) + PngChunk("gAMA", Number(0)) + rows), ""},
      {"text_bomb",
       File(grey +
            PngChunk("zTXt", std::string("k\0\0", 3) + Pack(Bomb(30'000'000), Packing::kZlib)) +
            rows),
       ""},
      {"profile_bomb",
       File(grey +
            PngChunk("iCCP", std::string("k\0\0", 3) + Pack(Bomb(30'000'000), Packing::kZlib)) +
            rows),
       ""},
      {"data_bomb", File(grey + Data(Bomb(20'000'000))), ""},
      {"palette_index_beyond", File(Head(1, 1, 8, 3) + palette + Data(std::string("\0\xFF", 2))),
       ""},
  };
}

const char* const kOtherSize = "an image of 1 x 1 pixels";
const char* const kNoImage = "a PNG image";

std::vector<FileCase> RefusedCases() {
  const std::string rows = Data(std::string("\0ab\1cd", 6));
  const std::string good = File(Head(2, 2) + rows);
  std::string checksum = good;
  checksum[29] = static_cast<char>(checksum[29] ^ 1);
  std::string length = good;
  length[8] = '\x80';
  return {
      {"size_huge", File(Head(0x7FFFFFFF, 0x7FFFFFFF) + rows), kNoImage},
      {"size_large", File(Head(1'000'000, 1'000'000) + rows), kOtherSize},
      {"size_beyond_31_bits", File(Head(0x80000001, 1) + rows), kNoImage},
      {"size_zero", File(Head(0, 0) + rows), kNoImage},
      {"size_wide", File(Head(200'000, 1) + rows), kOtherSize},
      {"depth_3", File(Head(2, 2, 3) + rows), kNoImage},
      {"colour_5", File(Head(2, 2, 8, 5) + rows), kNoImage},
      {"interlaced_2", File(Head(2, 2, 8, 0, 2) + rows), kNoImage},
      {"filter_9",
       File(Head(2, 1) + Data(std::string("\x09"
                                          "ab",
                                          3))),
       kNoImage},
      {"no_palette", File(Head(2, 2, 8, 3) + rows), kNoImage},
      {"no_data", File(Head(2, 2)), kNoImage},
      {"no_head", File(rows), kNoImage},
      {"data_too_short", File(Head(2, 2) + Data("")), kNoImage},
      {"data_no_zlib", File(Head(2, 2) + PngChunk("IDAT", "no zlib at all")), kNoImage},
      {"chunk_beyond_31_bits", length, kNoImage},
      {"text_longer_than_file",
       File(Head(2, 2) + rows).substr(0, 33) + Number(222'906'436) + "zTXt" + rows,
       "it is cut short"},
      {"chunk_critical_unknown", File(Head(2, 2) + PngChunk("ABCD", "x") + rows), kNoImage},
      {"other_checksum", checksum, kNoImage},
      {"cut_in_data", good.substr(0, good.size() - 20), kNoImage},
      {"cut_in_head", good.substr(0, 20), kNoImage},
      {"signature_alone", std::string(kPngSignature), kNoImage},
      {"empty", "", "it is empty"},
  };
}

std::vector<FileCase> Cases() {
  std::vector<FileCase> all = ReadCases();
  const std::vector<FileCase> more = RefusedCases();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

// The image, of at most 65,536 pixels here, is held beside the file.
FileReader PngFileReader() {
  return {.name = "png",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 8,
          .fixed_bytes = std::size_t{2} << 20};
}

}  // namespace frugal::testing

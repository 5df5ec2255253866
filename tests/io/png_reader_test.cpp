// PNG files come back as they were written, and damage is refused.
#include "sdk/io/png_reader.h"

#include "sdk/core/error.h"
#include "sdk/io/png_writer.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

std::vector<std::uint8_t> Pixels(std::size_t count) {
  std::vector<std::uint8_t> pixels(count);
  for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<std::uint8_t>(i * 53 % 256);
  return pixels;
}

TEST_CASE("PNG images come back byte for byte, and grey becomes colours") {
  const TempDir directory;
  const std::string path = directory.File("a.png");
  for (const std::int64_t channels : {1, 3}) {
    const std::vector<std::uint8_t> pixels = Pixels(static_cast<std::size_t>(5 * 7 * channels));
    WritePng(path, {.height = 5, .width = 7, .channels = channels, .bytes = pixels});
    CHECK(ReadPng(path, {5, 7, channels}) == pixels);
  }
  const std::vector<std::uint8_t> grey = Pixels(35);
  WritePng(path, {.height = 5, .width = 7, .channels = 1, .bytes = grey});
  const std::vector<std::uint8_t> colours = ReadPng(path, {5, 7, 3});
  for (std::size_t i = 0; i < 105; ++i) CHECK(colours[i] == grey[i / 3]);
  std::vector<std::uint8_t> white(105, 255);
  WritePng(path, {.height = 5, .width = 7, .channels = 3, .bytes = white});
  CHECK(ReadPng(path, {5, 7, 1}) == std::vector<std::uint8_t>(35, 255));
}

TEST_CASE("PNG images of other sizes and files that are none are refused by name") {
  const TempDir directory;
  const std::string path = directory.File("a.png");
  WritePng(path, {.height = 5, .width = 7, .channels = 1, .bytes = Pixels(35)});
  const auto message = [](const std::string& file, const Shape& shape) {
    return MessageOf<Error>([&] { ReadPng(file, shape); });
  };
  CheckContains(message(path, {7, 5, 1}),
                "a.png] an image of 7 x 5 pixels (height x width); it has 5 x 7");
  CheckContains(message(path, {5, 7, 2}), "[height, width, 1 or 3]");
  CheckContains(message(directory.File("b.png"), {5, 7, 1}),
                "b.png] a file to read; it is not there");
  CheckContains(message(directory.Write("c.png", ""), {5, 7, 1}), "it is empty");
  CheckContains(message(directory.Write("d.png", "no image"), {5, 7, 1}), "d.png] a PNG image");
  CheckContains(message(directory.File(""), {5, 7, 1}), "it is no regular file");
}

TEST_CASE("PNG chunks lie whole in their file, and texts are not unpacked") {
  const TempDir directory;
  const std::string path = directory.File("a.png");
  WritePng(path, {.height = 5, .width = 7, .channels = 3, .bytes = Pixels(105)});
  const std::string good = ReadAll(path);
  const std::size_t behind_head = 8 + 25;
  const auto with = [&](const std::string& chunk) {
    return directory.Write("b.png", good.substr(0, behind_head) + chunk + good.substr(behind_head));
  };
  // A text that no zlib packed and whose checksum is wrong.
  CHECK(ReadPng(with(std::string("\0\0\0\4zTXtabcd----", 16)), {5, 7, 3}) == Pixels(105));
  CHECK(ReadPng(with(std::string("\0\0\0\0iCCP----", 12)), {5, 7, 3}) == Pixels(105));
  for (const std::string type : {"zTXt", "iTXt", "iCCP", "PLTE", "IDAT", "sPLT"}) {
    INFO(type);
    const std::string long_chunk = with("\x7F\xFF\xFF\xFF" + type + "abc");
    CheckContains(MessageOf<DataError>([&] {
                    ReadPng(long_chunk, {5, 7, 3});
                  }),
                  "b.png] a PNG image; it is cut short");
  }
}

TEST_CASE("PNG images with any byte changed or cut off are read or refused, never more") {
  const TempDir directory;
  const std::string path = directory.File("a.png");
  WritePng(path, {.height = 5, .width = 7, .channels = 3, .bytes = Pixels(105)});
  const std::string good = ReadAll(path);
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    directory.Write("b.png", damaged);
    refused += MessageOf<DataError>([&] {
                 ReadPng(directory.File("b.png"), {5, 7, 3});
               }) != "no error";
    directory.Write("b.png", good.substr(0, i));
    MessageOf<DataError>([&] { ReadPng(directory.File("b.png"), {5, 7, 3}); });
  }
  CHECK(refused > static_cast<int>(good.size()) / 2);
}

}  // namespace
}  // namespace frugal::testing

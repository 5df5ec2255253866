#include "sdk/io/png_writer.h"

#include <png.h>

#include <vector>

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

struct Read {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> bytes;
};

Read ReadBack(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&png, path.c_str()) != 0);
  const bool colour = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
  png.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  Read read{png.height, png.width, colour ? 3 : 1, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png))};
  REQUIRE(png_image_finish_read(&png, nullptr, read.bytes.data(), 0, nullptr) != 0);
  return read;
}

std::vector<std::uint8_t> Bytes(std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 5);
  return bytes;
}

TEST_CASE("images come back byte for byte") {
  const TempDir directory;
  const std::string path = directory.File("image.png");
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 300}, {301, 1}, {7, 5}, {64, 33}}) {
    for (const std::int64_t channels : {1, 3}) {
      const std::vector<std::uint8_t> bytes = Bytes(height * width * channels);
      WritePng(path, {height, width, channels, bytes});
      const Read read = ReadBack(path);
      CHECK(read.height == height);
      CHECK(read.width == width);
      CHECK(read.bytes.size() == bytes.size());
      CHECK(read.channels == channels);
      CHECK(read.bytes == bytes);
    }
  }
  CHECK(directory.Count() == 1);  // no temporary file stays
}

TEST_CASE("sizes that do not fit the bytes are refused and write nothing") {
  const TempDir directory;
  const std::string path = directory.File("image.png");
  const std::vector<std::uint8_t> bytes = Bytes(12);
  const auto refusal = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    return MessageOf<UsageError>([&] { WritePng(path, {height, width, channels, bytes}); });
  };
  CheckContains(refusal(3, 5, 1), "3 x 5 x 1 and 12 bytes");
  CheckContains(refusal(3, 2, 2), "1 or 3 channels");
  CheckContains(refusal(0, 4, 3), "0 x 4 x 3");
  CheckContains(refusal(-3, -4, 1), "-3 x -4 x 1");
  CheckContains(refusal(1, 3, 4), "1 or 3 channels");
  CheckContains(refusal(std::int64_t{1} << 33, std::int64_t{1} << 33, 1), "12 bytes");
  CHECK(directory.Count() == 0);
  CheckContains(MessageOf<UsageError>([&] { WritePng(path, {0, 0, 1, {}}); }), "0 x 0 x 1");
}

TEST_CASE("a refused image leaves the file that was there") {
  const TempDir directory;
  const std::string path = directory.Write("image.png", "as before");
  CHECK_THROWS_AS(WritePng(path, {2, 2, 1, {}}), UsageError);
  CHECK(ReadAll(path) == "as before");
  WritePng(path, {2, 2, 1, Bytes(4)});
  CHECK(ReadBack(path).bytes == Bytes(4));
}

TEST_CASE("a directory that is not there is named") {
  const TempDir directory;
  const std::string path = directory.File("none/image.png");
  CheckContains(MessageOf<FileError>([&] { WritePng(path, {2, 2, 1, Bytes(4)}); }), path);
}

}  // namespace
}  // namespace frugal::testing

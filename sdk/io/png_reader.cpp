#include "sdk/io/png_reader.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sdk/core/error.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

// Frees what the library holds of an image.
class PngScope {
 public:
  explicit PngScope(png_image& image) : image_(image) {}
  PngScope(const PngScope&) = delete;
  PngScope& operator=(const PngScope&) = delete;
  ~PngScope() { png_image_free(&image_); }

 private:
  png_image& image_;
};

void CheckShape(const Shape& shape) {
  if (shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3) && shape.ElementCount() > 0) return;
  throw UsageError({.where = "ReadPng",
                    .required = "an image has a shape [height, width, 1 or 3]",
                    .given = ToString(shape),
                    .advice = "images of other channels are read from .npy files"});
}

[[noreturn]] void RefusePng(const std::string& path, const std::string& given) {
  throw DataError({.where = path,
                   .required = "a PNG image",
                   .given = given,
                   .advice = "the file is damaged or of another kind"});
}

void CheckSize(const std::string& path, const png_image& image, const Shape& shape) {
  if (image.height == shape[0] && image.width == shape[1]) return;
  throw DataError(
      {.where = path,
       .required = "an image of " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]) +
                   " pixels (height x width)",
       .given = "it has " + std::to_string(image.height) + " x " + std::to_string(image.width),
       .advice = "scale or cut it to that size"});
}

std::size_t ChunkLength(std::string_view chunk) {
  std::size_t length = 0;
  for (const char digit : chunk.substr(0, 4)) {
    length = length << 8 | static_cast<unsigned char>(digit);
  }
  return length;
}

// True for a chunk that says how pixels look, or that no reader may pass over (a capital letter
// marks those): not for texts and profiles, which libpng would unpack to whatever size they have.
bool IsNeeded(std::string_view type) {
  constexpr std::array<std::string_view, 4> kLooks = {"tRNS", "gAMA", "cHRM", "sRGB"};
  return (type[0] & 0x20) == 0 || std::ranges::find(kLooks, type) != kLooks.end();
}

// The file with only its needed chunks, each of which lies whole in it: libpng allocates what a
// chunk's length announces before it looks for the end of the file.
std::string NeededChunks(const std::string& path, std::string_view file) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kBeside = 12;  // bytes of length, type and checksum
  std::string needed(file.substr(0, kSignature));
  std::string_view rest = file.substr(std::min(kSignature, file.size()));
  for (std::string_view type; type != "IEND";) {
    if (rest.size() < kBeside || ChunkLength(rest) > rest.size() - kBeside) {
      RefusePng(path, "it is cut short");
    }
    const std::string_view chunk = rest.substr(0, ChunkLength(rest) + kBeside);
    rest.remove_prefix(chunk.size());
    type = chunk.substr(4, 4);
    if (IsNeeded(type)) needed += chunk;
  }
  return needed;
}

std::string ReadChunks(const std::string& path) {
  const std::string file = ReadWholeFile(path);
  if (png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0,
                  std::min<std::size_t>(8, file.size())) != 0) {
    RefusePng(path, "it does not begin as one");
  }
  return NeededChunks(path, file);
}

}  // namespace

std::vector<std::uint8_t> ReadPng(const std::string& path, const Shape& shape) {
  CheckShape(shape);
  const std::string file = ReadChunks(path);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const PngScope scope(image);
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) {
    RefusePng(path, image.message);
  }
  CheckSize(path, image, shape);
  image.format = shape[2] == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape.ElementCount()));
  // Without a background the image is laid over what the buffer holds.
  if (png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr) == 0) {
    RefusePng(path, image.message);
  }
  return bytes;
}

}  // namespace frugal

#include "sdk/io/png_writer.h"

#include <png.h>

#include <vector>

#include "sdk/core/error.h"
#include "sdk/io/atomic_file.h"

namespace frugal {
namespace {

constexpr std::int64_t kMostPerSide = 1 << 16;

void Check(const std::string& path, const ImageBytes& image) {
  const bool sides = image.height >= 1 && image.height <= kMostPerSide && image.width >= 1 &&
                     image.width <= kMostPerSide;
  const bool channels = image.channels == 1 || image.channels == 3;
  const std::int64_t size = sides && channels ? image.height * image.width * image.channels : -1;
  if (size == static_cast<std::int64_t>(image.bytes.size())) return;
  throw UsageError({.where = path,
                    .required = "an image of 1 or 3 channels and a byte for each value",
                    .given = std::to_string(image.height) + " x " + std::to_string(image.width) +
                             " x " + std::to_string(image.channels) + " and " +
                             std::to_string(image.bytes.size()) + " bytes",
                    .advice = "correct the sizes"});
}

[[noreturn]] void RefuseImage(const std::string& path, const char* message) {
  throw FileError({.where = path,
                   .required = "an image that can be packed",
                   .given = message,
                   .advice = "report this"});
}

}  // namespace

void WritePng(const std::string& path, const ImageBytes& image) {
  Check(path, image);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::byte> packed(size);
  if (png_image_write_to_memory(&png, packed.data(), &size, 0, image.bytes.data(), 0, nullptr) ==
      0) {
    RefuseImage(path, png.message);
  }
  AtomicFile file(path);
  file.Append(std::span(packed).first(size));
  file.Commit();
}

}  // namespace frugal

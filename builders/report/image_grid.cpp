#include "builders/report/image_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/io/png_writer.h"

namespace frugal {
namespace {

constexpr std::uint8_t kPaper = 255;
constexpr std::int64_t kMostColumns = 1000;
constexpr std::int64_t kMostZoom = 100;  // and pixels between images

struct Sizes {
  std::int64_t height, width, channels, count;
};

bool Fits(const ImageGridOptions& o) {
  return o.columns >= 1 && o.columns <= kMostColumns && o.zoom >= 1 && o.zoom <= kMostZoom &&
         o.gap >= 0 && o.gap <= kMostZoom;
}

Sizes SizesOf(const Model& model, std::span<const float> images, const ImageGridOptions& options) {
  if (!Fits(options)) {
    throw UsageError(
        {.where = "WriteImageGrid",
         .required = "1 to " + std::to_string(kMostColumns) + " columns, zoom 1 to " +
                     std::to_string(kMostZoom) + " and gap 0 to " + std::to_string(kMostZoom),
         .given = "columns = " + std::to_string(options.columns) + ", zoom = " +
                  std::to_string(options.zoom) + ", gap = " + std::to_string(options.gap),
         .advice = "correct the options"});
  }
  const Shape& shape = model.layout().sample_shape;
  const bool fits = shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3) && !images.empty() &&
                    static_cast<std::int64_t>(images.size()) % shape.ElementCount() == 0;
  if (fits) {
    return {shape[0], shape[1], shape[2],
            static_cast<std::int64_t>(images.size()) / shape.ElementCount()};
  }
  throw UsageError(
      {.where = "WriteImageGrid",
       .required = "whole images of 1 or 3 channels",
       .given = std::to_string(images.size()) + " values of samples " + ToString(shape),
       .advice = "give the samples of a model of images"});
}

// 0 to 255; what is no number is black.
std::uint8_t ByteOf(double pixel) {
  return pixel > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(pixel, 1.0))) : 0;
}

}  // namespace

void WriteImageGrid(const std::string& path, const Model& model, std::span<const float> images,
                    const ImageGridOptions& options) {
  const Sizes s = SizesOf(model, images, options);
  const double mean = model.config().data.mean;
  const double deviation = model.config().data.std;
  const std::int64_t rows = (s.count + options.columns - 1) / options.columns;
  const std::int64_t cell_height = s.height * options.zoom + options.gap;
  const std::int64_t cell_width = s.width * options.zoom + options.gap;
  const std::int64_t height = rows * cell_height + options.gap;
  const std::int64_t width = options.columns * cell_width + options.gap;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(height * width * s.channels), kPaper);
  const auto put = [&](std::int64_t image, std::int64_t y, std::int64_t x) {
    const std::int64_t top = image / options.columns * cell_height + options.gap;
    const std::int64_t left = image % options.columns * cell_width + options.gap;
    for (std::int64_t c = 0; c < s.channels; ++c) {
      const std::int64_t from =
          ((image * s.height + y / options.zoom) * s.width + x / options.zoom) * s.channels + c;
      const double pixel = images[static_cast<std::size_t>(from)] * deviation + mean;
      bytes[static_cast<std::size_t>(((top + y) * width + left + x) * s.channels + c)] =
          ByteOf(pixel);
    }
  };
  for (std::int64_t image = 0; image < s.count; ++image) {
    for (std::int64_t y = 0; y < s.height * options.zoom; ++y) {
      for (std::int64_t x = 0; x < s.width * options.zoom; ++x) put(image, y, x);
    }
  }
  WritePng(path, {height, width, s.channels, bytes});
}

}  // namespace frugal

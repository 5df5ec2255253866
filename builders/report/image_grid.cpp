#include "builders/report/image_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/io/png_writer.h"

namespace frugal {
namespace {

constexpr std::uint8_t kPaper = 255;

struct Sizes {
  std::int64_t height, width, channels, count;
};

Sizes SizesOf(const Model& model, std::span<const float> images, std::int64_t columns) {
  const Shape& shape = model.layout().sample_shape;
  const bool fits = shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3) && !images.empty() &&
                    columns >= 1 &&
                    static_cast<std::int64_t>(images.size()) % shape.ElementCount() == 0;
  if (fits) {
    return {shape[0], shape[1], shape[2],
            static_cast<std::int64_t>(images.size()) / shape.ElementCount()};
  }
  throw UsageError({.where = "WriteImageGrid",
                    .required = "whole images of 1 or 3 channels in at least 1 column",
                    .given = std::to_string(images.size()) + " values of samples " +
                             ToString(shape) + " in " + std::to_string(columns) + " columns",
                    .advice = "give the samples of a model of images"});
}

}  // namespace

void WriteImageGrid(const std::string& path, const Model& model, std::span<const float> images,
                    const ImageGridOptions& options) {
  const Sizes s = SizesOf(model, images, options.columns);
  const double mean = model.config().data.mean;
  const double deviation = model.config().data.deviation;
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
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(pixel, 0.0, 1.0)));
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

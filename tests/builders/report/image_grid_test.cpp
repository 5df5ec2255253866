#include "builders/report/image_grid.h"

#include <png.h>

#include <limits>

#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

Model ModelOf(std::int64_t channels, double mean = 0, double deviation = 1) {
  DataLayout layout = SyntheticLayout();
  layout.sample_shape = {2, 3, channels};
  AiModelBuilder builder;
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}); })
      .Data(layout, SyntheticSources(layout))
      .Training({.batch_size = 4});
  PlannedTraining planned = builder.Plan();
  planned.config.data.mean = mean;
  planned.config.data.std = deviation;
  return Model(std::move(planned), SyntheticSources(layout));
}

struct Picture {
  std::int64_t height = 0, width = 0;
  std::vector<int> bytes;
};

Picture Drawn(const Model& model, const std::vector<float>& images,
              const ImageGridOptions& options) {
  const TempDir directory;
  const std::string path = directory.File("grid.png");
  WriteImageGrid(path, model, images, options);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&png, path.c_str()) != 0);
  std::vector<std::uint8_t> bytes(PNG_IMAGE_SIZE(png));
  REQUIRE(png_image_finish_read(&png, nullptr, bytes.data(), 0, nullptr) != 0);
  return {png.height, png.width, {bytes.begin(), bytes.end()}};
}

std::string Refusal(const Model& model, std::size_t values, const ImageGridOptions& options) {
  const TempDir directory;
  const std::string refusal = MessageOf<UsageError>([&] {
    WriteImageGrid(directory.File("grid.png"), model, std::vector<float>(values), options);
  });
  CHECK(directory.Count() == 0);
  return refusal;
}

TEST_CASE("images lie side by side on white") {
  const float v = 1.0F / 255;
  const std::vector<float> images = {10 * v, 20 * v, 30 * v, 40 * v, 50 * v, 60 * v,
                                     11 * v, 21 * v, 31 * v, 41 * v, 51 * v, 61 * v,
                                     12 * v, 22 * v, 32 * v, 42 * v, 52 * v, 62 * v};
  const Picture picture = Drawn(ModelOf(1), images, {.columns = 2, .zoom = 1, .gap = 1});
  CHECK(picture.height == 7);
  CHECK(picture.width == 9);
  constexpr int w = 255;
  const std::vector<int> expected = {w, w,  w,  w,  w, w,  w,  w,  w,  //
                                     w, 10, 20, 30, w, 11, 21, 31, w,  //
                                     w, 40, 50, 60, w, 41, 51, 61, w,  //
                                     w, w,  w,  w,  w, w,  w,  w,  w,  //
                                     w, 12, 22, 32, w, w,  w,  w,  w,  //
                                     w, 42, 52, 62, w, w,  w,  w,  w,  //
                                     w, w,  w,  w,  w, w,  w,  w,  w};
  CHECK(picture.bytes == expected);
}

TEST_CASE("a zoomed pixel is a square, and colours stay together") {
  const std::vector<float> image = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0};
  const Picture picture = Drawn(ModelOf(3), image, {.columns = 1, .zoom = 2, .gap = 0});
  CHECK(picture.height == 4);
  CHECK(picture.width == 6);
  REQUIRE(picture.bytes.size() == 4 * 6 * 3);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 6; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const float value = image[(y / 2 * 3 + x / 2) * 3 + c];
        CHECK(picture.bytes[(y * 6 + x) * 3 + c] == (value > 0 ? 255 : 0));
      }
    }
  }
}

TEST_CASE("values are pixels again, within black and white") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Picture picture = Drawn(ModelOf(1, 0.5, 0.25), {0, 2, -2, 1, nan, infinity},
                                {.columns = 1, .zoom = 1, .gap = 0});
  CHECK(picture.bytes == std::vector<int>{128, 255, 0, 191, 0, 255});
}

TEST_CASE("what is no row of images is refused") {
  const Model grey = ModelOf(1);
  CheckContains(Refusal(grey, 7, {}), "7 values of samples [2, 3, 1]");
  CheckContains(Refusal(grey, 0, {}), "0 values");
  CheckContains(Refusal(ModelOf(2), 12, {}), "whole images of 1 or 3 channels");
  SmallRun text;
  text.network = "gpt2";
  CheckContains(Refusal(BuilderFor(text).Build(), 6, {}), "whole images");
}

TEST_CASE("columns, zoom and gap that make no sense are refused") {
  const Model grey = ModelOf(1);
  CheckContains(Refusal(grey, 6, {.columns = 0}), "columns = 0");
  CheckContains(Refusal(grey, 6, {.columns = std::int64_t{1} << 60}), "1 to 1000 columns");
  CheckContains(Refusal(grey, 6, {.zoom = 0}), "zoom = 0");
  CheckContains(Refusal(grey, 6, {.zoom = -1}), "zoom = -1");
  CheckContains(Refusal(grey, 6, {.gap = -1}), "gap = -1");
  CheckContains(Refusal(grey, 6, {.gap = 101}), "gap 0 to 100");
}

}  // namespace
}  // namespace frugal::testing

#include "samples/020_error_gallery/tiny_training.h"

#include <fstream>
#include <iterator>

namespace frugal::gallery {

void WriteFile(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string IdxFile(const std::vector<int>& extents, std::size_t elements) {
  std::string file = {0, 0, 8, static_cast<char>(extents.size())};
  for (const int extent : extents) {
    for (const int shift : {24, 16, 8, 0}) file += static_cast<char>((extent >> shift) & 0xFF);
  }
  return file + std::string(elements, '\0');
}

void WriteTinyData() {
  WriteFile("train_images.idx", IdxFile({8, 4, 4}, 128));
  WriteFile("train_labels.idx", IdxFile({8}, 8));
  WriteFile("test_images.idx", IdxFile({4, 4, 4}, 64));
  WriteFile("test_labels.idx", IdxFile({4}, 4));
}

void WriteTinyData(const std::string& file, std::string_view content) {
  WriteTinyData();
  WriteFile(file, content);
}

AiModelBuilder TinyTraining() {
  AiModelBuilder builder;
  builder
      .Data({.dataset = "tiny",
             .train_images = "train_images.idx",
             .train_labels = "train_labels.idx",
             .test_images = "test_images.idx",
             .test_labels = "test_labels.idx",
             .sample_shape = std::vector<std::int64_t>{4, 4, 1},
             .train_count = 8,
             .test_count = 4,
             .classes = 3})
      .Layers([](LayerList& layers) { layers.Flatten().Dense({.units = 3}, "head"); })
      .Training({.batch_size = 4});
  return builder;
}

}  // namespace frugal::gallery

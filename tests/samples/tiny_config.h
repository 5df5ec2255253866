#pragma once

#include <string>

#include "tests/io/temp_dir.h"

namespace frugal::testing {

// An IDX file of zeros.
inline std::string IdxFile(const std::vector<int>& extents) {
  std::string file = {0, 0, 8, static_cast<char>(extents.size())};
  std::size_t elements = 1;
  for (const int extent : extents) {
    file += std::string(3, '\0') + static_cast<char>(extent);
    elements *= static_cast<std::size_t>(extent);
  }
  return file + std::string(elements, '\0');
}

// Writes the four files of a data set of 8 + 4 images of 4 x 4.
inline void WriteTinyData(const TempDir& directory) {
  directory.Write("train_images.idx", IdxFile({8, 4, 4}));
  directory.Write("train_labels.idx", IdxFile({8}));
  directory.Write("test_images.idx", IdxFile({4, 4, 4}));
  directory.Write("test_labels.idx", IdxFile({4}));
}

// "tiny.toml": 51 parameters on that data, two epochs of two steps.
inline constexpr const char* kTinyConfig = R"([data]
dataset = "tiny"
train_images = "train_images.idx"
train_labels = "train_labels.idx"
test_images = "test_images.idx"
test_labels = "test_labels.idx"
sample_shape = [4, 4, 1]
train_count = 8
test_count = 4
classes = 3

[[model.layers]]
type = "flatten"

[[model.layers]]
type = "dense"
units = 3

[training]
epochs = 2
batch_size = 4
)";

}  // namespace frugal::testing

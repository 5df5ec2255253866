#pragma once

#include <string>
#include <string_view>

#include "builders/ai_model_builder.h"

namespace frugal::gallery {

// A data set small enough to be written by hand: 8 images of 4 x 4 to train on and 4 to test on, in
// 3 classes, in the files train_images.idx, train_labels.idx, test_images.idx and test_labels.idx.
void WriteTinyData();
// Writes the same data, then `content` in place of one of the files.
void WriteTinyData(const std::string& file, std::string_view content);

// A model of one dense layer "head" on that data.
AiModelBuilder TinyTraining();

// An IDX file: a header for that rank and these extents, then `elements` zeros.
std::string IdxFile(const std::vector<int>& extents, std::size_t elements);

void WriteFile(const std::string& path, std::string_view content);
std::string ReadFile(const std::string& path);

}  // namespace frugal::gallery

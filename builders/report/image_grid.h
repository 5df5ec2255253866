#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "builders/run/model.h"

namespace frugal {

struct ImageGridOptions {
  std::int64_t columns = 10;
  std::int64_t zoom = 2;  // pixels of the file for one of an image
  std::int64_t gap = 2;   // pixels between images
};

// Writes images [count, H, W, C] of a model's values (pixels less [data] mean, divided by
// std) as a PNG, row by row. Throws UsageError where the model's samples are no images of 1
// or 3 channels, and as WritePng.
void WriteImageGrid(const std::string& path, const Model& model, std::span<const float> images,
                    const ImageGridOptions& options = {});

}  // namespace frugal

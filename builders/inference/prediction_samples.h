#pragma once

#include <span>
#include <string>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/data/image_decode.h"

namespace frugal {

// Samples for a network of one input, one after the other, as Model::Predict takes them.
struct PredictionSamples {
  std::int64_t count = 0;
  std::vector<float> values;         // [count, sample...]; empty where the network takes tokens
  std::vector<std::int64_t> tokens;  // [count, T]; empty where it takes values
  std::vector<std::string> names;    // of each: "shirt.png", "t10k-images.gz 17"
};

// Reads files for a network that takes samples of this layout, each by its content:
//
//   PNG      an image of the network's size
//   IDX      images, plain or gzipped
//   .npy     one sample or [N, sample...]: u1, f4 or f8; for tokens i4, i8 or u1
//   .raw     f4 values, little endian, of whole samples
//   others   for a network over bytes: a text. It is cut into samples of as many bytes as the
//            network takes, so that the last one ends with the file; what is left in front is not
//            read.
//
// Bytes of images are scaled to [0, 1] and normalized; values are taken as they are. Throws
// DataError, with the file in front, where one is missing, damaged, of another kind or of other
// sizes than the network takes.
PredictionSamples ReadSamples(std::span<const std::string> paths, const DataLayout& layout,
                              const Normalization& normalization);

}  // namespace frugal

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sdk/data/data_source.h"

namespace frugal {

// A byte has so many values, and a language model of bytes so many classes.
inline constexpr std::int64_t kByteValues = 256;

// A text as data of a language model: sample i has the bytes [i T, i T + T) as inputs and the same
// shifted by one, [i T + 1, i T + T + 1), as targets.
struct TextOptions {
  std::string path;                    // plain or gzipped
  std::int64_t sequence_length = 128;  // T, at least 1
  double test_fraction = 0.1;          // of the samples, those at the end; in [0, 0.9]
};

// All that planning needs to know about a text.
struct TextInfo {
  std::string path;
  std::int64_t sequence_length = 0;
  std::int64_t train_count = 0;  // samples
  std::int64_t test_count = 0;   // the samples behind those
};

// Takes the size from the file system; a gzipped file is unpacked once to count, in small pieces.
// Throws ConfigError for options out of range, and DataError where the file is missing, not a
// file, damaged, or too short for two samples.
TextInfo DescribeText(const TextOptions& options);

// Inputs and labels are bytes: vocabulary and classes are 256.
DataLayout LayoutOf(const TextInfo& info);

// The bytes of one part, and the one that ends its last sample.
Tensor TakeTextStorage(Allocator& memory, const TextInfo& info, DatasetPart part);

// Reads one part from the file into `storage`. Throws DataError where the file has become missing,
// damaged or shorter than `info` announces.
std::unique_ptr<DataSource> OpenText(const TextInfo& info, DatasetPart part, Tensor storage);

}  // namespace frugal

#pragma once

#include <memory>

#include "sdk/data/data_source.h"
#include "sdk/data/dataset_info.h"
#include "sdk/data/image_decode.h"

namespace frugal {

// Images and labels of one part of a data set, kept as the bytes they are stored as.
struct ImageStorage {
  Tensor images;  // kU8 [N, H, W, C]; empty where labels alone are read
  Tensor labels;  // kU8 [N]
};
ImageStorage TakeImageStorage(Allocator& memory, const DatasetInfo& info, std::int64_t count,
                              bool with_images = true);

// Returns what planning needs to know.
DataLayout LayoutOf(const DatasetInfo& info);

// Reads one part from its files into `storage`. Throws DataError where a file is missing, damaged
// or not what `info` announces.
std::unique_ptr<DataSource> OpenImages(const DatasetInfo& info, DatasetPart part,
                                       ImageStorage storage, const Normalization& normalization);

}  // namespace frugal

#pragma once

#include <memory>
#include <variant>

#include "builders/run_config.h"
#include "sdk/data/labelled_images.h"
#include "sdk/data/text.h"

namespace frugal {

// Images with how their pixels are scaled.
struct ImageDataset {
  DatasetInfo info;
  Normalization normalization;
};

// The data set that [data] describes: all that planning needs to know.
using DatasetDescription = std::variant<ImageDataset, TextInfo>;

// Of a text the file's size is looked up, and with classes_used the labels are read; otherwise no
// file is touched. Throws ConfigError where
// images are neither known by name nor described by all of their files and sizes, and DataError for
// a text that is missing, damaged or too short, and label files likewise (UseClasses).
DatasetDescription DatasetOf(const DataOptions& options);

DataLayout LayoutOf(const DatasetDescription& dataset);

// The memory of one part, to be filled by OpenPart. Throws UsageError where the part is empty.
using PartStorage = std::variant<ImageStorage, Tensor>;
PartStorage TakeStorage(Allocator& memory, const DatasetDescription& dataset, DatasetPart part);

// Reads one part from its files into storage that was taken for it. Throws DataError where a file
// is missing, damaged or not as described.
std::unique_ptr<DataSource> OpenPart(const DatasetDescription& dataset, DatasetPart part,
                                     PartStorage storage);

}  // namespace frugal

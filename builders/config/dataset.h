#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "builders/config/run_config.h"
#include "sdk/core/error.h"
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

// Refuses the name of images that are neither built in nor described by all of their files and
// sizes. Returns nothing where the name says enough, or a text is meant.
std::optional<Diagnostic> NameProblem(const DataOptions& options);

// Looks up the file's size for a text and reads the labels for classes_used; touches no file
// otherwise. Throws ConfigError for a NameProblem, and DataError for a text that is missing,
// damaged or too short, and label files likewise (UseClasses).
DatasetDescription DatasetOf(const DataOptions& options);

DataLayout LayoutOf(const DatasetDescription& dataset);

// The memory of one part, to be filled by OpenPart; without inputs, that of the labels of images,
// or all of a text. Throws UsageError where the part is empty.
using PartStorage = std::variant<ImageStorage, Tensor>;
PartStorage TakeStorage(Allocator& memory, const DatasetDescription& dataset, DatasetPart part,
                        bool with_inputs = true);

// Reads one part from its files into storage that was taken for it. Throws DataError where a file
// is missing, damaged or not as described.
std::unique_ptr<DataSource> OpenPart(const DatasetDescription& dataset, DatasetPart part,
                                     PartStorage storage);

}  // namespace frugal

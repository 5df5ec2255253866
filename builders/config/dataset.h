#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "builders/config/run_config.h"
#include "sdk/core/error.h"
#include "sdk/data/dataset_registry.h"
#include "sdk/data/labelled_images.h"
#include "sdk/data/text.h"

namespace frugal {

// Images with how their pixels are scaled.
struct ImageDataset {
  DatasetInfo info;
  Normalization normalization;
};

// Data that a program registered, by the options that were given.
struct RegisteredDataset {
  const DatasetRow* row = nullptr;
  OwnOptions options;
  DataLayout layout;
};

// The data set that [data] describes: all that planning needs to know.
using DatasetDescription = std::variant<ImageDataset, TextInfo, RegisteredDataset>;

// Returns the row of data that a program registered, where the options name some; else null.
const DatasetRow* RegisteredRow(const DataOptions& options);
// Returns true for data that are a source of a program's own: its memory is not ours, and its
// samples are read whole.
bool IsOfProgram(const DatasetDescription& dataset);

// Refuses the name of images that are neither known nor described by all of their files and
// sizes. Returns nothing where the name says enough, or a text is meant.
std::optional<Diagnostic> NameProblem(const DataOptions& options);

// Looks up the file's size for a text and reads the labels for classes_used; touches no file
// otherwise. Throws ConfigError for a NameProblem, and DataError for a text that is missing,
// damaged or too short, and label files likewise (UseClasses). The layout of registered data is
// theirs; one that no data can have is a ConfigError.
DatasetDescription DatasetOf(const DataOptions& options);

DataLayout LayoutOf(const DatasetDescription& dataset);

// Returns true where the data set itself has this part.
bool HasPart(const DatasetDescription& dataset, DatasetPart part);

// The memory of one part, to be filled by OpenPart; without inputs, that of the labels of images,
// or all of a text; none for registered data. Throws UsageError where the part is empty.
using PartStorage = std::variant<ImageStorage, Tensor>;
PartStorage TakeStorage(Allocator& memory, const DatasetDescription& dataset, DatasetPart part,
                        bool with_inputs = true);

// Reads one part from its files into storage that was taken for it. Throws DataError where a file
// is missing, damaged or not as described, and where registered data have another number of samples
// than their layout announces; UsageError where they open nothing.
std::shared_ptr<const DataSource> OpenPart(const DatasetDescription& dataset, DatasetPart part,
                                           PartStorage storage);

}  // namespace frugal

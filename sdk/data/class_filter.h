#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/data/dataset_info.h"

namespace frugal {

// Restricts a data set to some of its classes, which are then labelled 0, 1, ... in the order that
// is given. How many samples that leaves is in the label files alone, so these (not the images) are
// read here. Throws ConfigError for a class that is out of range or named twice, and DataError
// where a label file is missing, damaged or not as described, or a part has no sample of these
// classes.
void UseClasses(DatasetInfo& info, std::vector<std::int64_t> classes);

// Reads the labels of one part of a restricted data set: the new ones of the samples that are used
// into `labels`, which has room for all of them. Returns one entry per sample of the file, 1 where
// it is used. Throws DataError as above, and where the file has changed since it was counted.
std::vector<std::uint8_t> ReadUsedLabels(const DatasetInfo& info, DatasetPart part,
                                         std::span<std::uint8_t> labels);

}  // namespace frugal

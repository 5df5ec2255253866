#pragma once

#include "builders/run_config.h"
#include "sdk/data/dataset_info.h"
#include "sdk/data/image_decode.h"

namespace frugal {

// The data set that [data] describes; no file is touched. Throws ConfigError where neither the name
// is known nor all of the files and sizes are given.
DatasetInfo DatasetOf(const DataOptions& options);

Normalization NormalizationOf(const DataOptions& options, const DatasetInfo& info);

}  // namespace frugal

#pragma once

#include <memory>

#include "sdk/data/data_source.h"

namespace frugal {

// Holds the training and the test part of data; the test part may be null.
struct DataSources {
  std::shared_ptr<const DataSource> train;
  std::shared_ptr<const DataSource> test;
};

}  // namespace frugal

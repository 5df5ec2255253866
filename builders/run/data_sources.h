#pragma once

#include <memory>

#include "sdk/data/data_source.h"

namespace frugal {

// Training and test part; the test part may be null.
struct DataSources {
  std::shared_ptr<const DataSource> train;
  std::shared_ptr<const DataSource> test;
};

}  // namespace frugal

#pragma once

#include <memory>
#include <span>

#include "sdk/data/data_source.h"

namespace frugal {

// Holds the training, the test and the validation part of data; the last two may be null.
struct DataSources {
  std::shared_ptr<const DataSource> train{};
  std::shared_ptr<const DataSource> test{};
  std::shared_ptr<const DataSource> validation{};
};

// Says what a step reads: samples of a part by their numbers, or of `given`, where there is one.
struct StepSamples {
  DatasetPart part = DatasetPart::kTrain;
  std::span<const std::int64_t> numbers{};
  const DataSource* given = nullptr;
};

}  // namespace frugal

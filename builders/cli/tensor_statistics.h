#pragma once

#include "sdk/io/weights/weight_source.h"

namespace frugal::cli {

struct TensorStatistics {
  std::int64_t count = 0;  // of elements that are numbers; the others below are of these
  std::int64_t nan_count = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double std = 0;  // the population's
};

// Reads one tensor, of any dtype, and computes in double precision. Takes memory for the tensor as
// it is stored. Throws WeightFileError where the file cannot be read.
TensorStatistics StatisticsOf(const WeightSource& file, const StoredTensor& tensor);

}  // namespace frugal::cli

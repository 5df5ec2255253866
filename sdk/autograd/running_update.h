#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

struct Parameter;

// Holds what a batch norm found in a micro-batch, and the running statistics that it is to move.
struct RunningUpdate {
  const Parameter* running_mean = nullptr;
  const Parameter* running_variance = nullptr;
  double epsilon = 0, momentum = 0;
  Tensor mean, rstd;      // [C]
  std::int64_t rows = 0;  // values of each channel
  std::int64_t micro_batch = 0;
};

}  // namespace frugal

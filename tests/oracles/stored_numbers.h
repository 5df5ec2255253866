#pragma once

#include <string>

#include "sdk/io/weights/weight_source.h"
#include "sdk/module/parameter_store.h"
#include "tests/oracles/axis_order.h"
#include "tests/support/test_environment.h"

namespace frugal::oracles {

// One tensor of a file, in f64. Throws DataError where it has none of that name.
Numbers ReadNumbers(const WeightSource& source, const std::string& name);

// As a tensor of the given element type, integers as kI64. Images [N, C, ...] of more than three
// axes turn to channels last; those of five axes have their channels at `video_channels`.
Tensor ReadInput(const WeightSource& source, const std::string& name, DType dtype,
                 std::size_t video_channels = 1);

// Fills the store's parameters from the file. Throws DataError where one is missing or mis-shaped.
void TakeWeightsFrom(const WeightSource& source, testing::TestEnvironment& environment);

}  // namespace frugal::oracles

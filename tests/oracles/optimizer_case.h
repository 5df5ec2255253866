#pragma once

#include <string>
#include <vector>

#include "sdk/io/weights/weight_source.h"
#include "sdk/optim/optimizer.h"
#include "tests/support/test_environment.h"

// Runs of optimizers that PyTorch has computed: `start`, `gradients` [steps, ...], `after/<name>`.
namespace frugal::oracles {

// The names in the metadata's "options". Throws DataError where there are none.
std::vector<std::string> OptimizerNames(const WeightSource& source);
// As PyTorch has it where a run names nothing else: its rate, and AdamW's weight decay.
OptimizerOptions PyTorchDefaults(OptimizerKind kind);
// The kind is the longest one that begins the name: "sgd_nesterov" is sgd.
OptimizerOptions OptimizerOptionsOf(const WeightSource& source, const std::string& name);
// The relative error of the parameters after each step.
std::vector<double> OptimizerErrors(testing::TestEnvironment& environment,
                                    const WeightSource& source, const std::string& name);

}  // namespace frugal::oracles

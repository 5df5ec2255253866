#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/layer_case.h"

namespace frugal::testing {

// Every layer there is, each in a few forms.
const std::vector<LayerCase>& LayerCases();

// A convolutional network with everything in it: [N, 8, 8, 3] -> [N, 5].
std::unique_ptr<Layer> MakeSmallNetwork();

// Paths and indices given, ready to run.
std::unique_ptr<Layer> Ready(std::unique_ptr<Layer> layer, const std::string& path = "net");

}  // namespace frugal::testing

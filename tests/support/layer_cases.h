#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sdk/module/layer.h"

namespace frugal::test {

// Every layer there is, each in a few forms, with an input it takes.
struct LayerCase {
  std::string name;
  Shape input;
  Shape output;
  std::int64_t parameters = 0;
  std::function<std::unique_ptr<Layer>()> make;
};

const std::vector<LayerCase>& LayerCases();

// A convolutional network with everything in it: [N, 8, 8, 3] -> [N, 5].
std::unique_ptr<Layer> MakeSmallNetwork();

// Paths and indices given, ready to run.
std::unique_ptr<Layer> Ready(std::unique_ptr<Layer> layer, const std::string& path = "net");

}  // namespace frugal::test

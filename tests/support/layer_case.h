#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sdk/module/layer.h"

namespace frugal::testing {

// A layer in one of its forms, with an input that it takes.
struct LayerCase {
  std::string name;
  Shape input;
  Shape output;
  std::int64_t parameters = 0;
  std::function<std::unique_ptr<Layer>()> make;
};

}  // namespace frugal::testing

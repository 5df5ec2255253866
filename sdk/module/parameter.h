#pragma once

#include <string>
#include <vector>

#include "sdk/module/initializer.h"

namespace frugal {

// The description of one learned tensor or buffer. It holds no storage: values, gradients and
// optimizer state live in a ParameterStore, so that the same layers can be planned dry and run.
struct Parameter {
  std::string name;  // within its module: "weight"
  std::string path;  // in the whole model, as in public checkpoints: "blocks.0.attn.qkv.weight"
  std::vector<std::string> aliases{};  // other paths of the same tensor, where weights are tied
  Shape shape;
  Initializer initializer;
  bool trainable = true;
  bool is_buffer = false;  // running statistics: saved and restored, never trained
  bool frozen = false;     // stays as it is: neither trained nor, of a buffer, moved
  double rate_factor = 1;  // the learning rate is multiplied with this
  std::size_t index = 0;   // position in the model's list of parameters
};

}  // namespace frugal

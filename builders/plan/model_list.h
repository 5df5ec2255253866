#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace frugal {

// A published model as lists show it.
struct ModelListing {
  std::string name;
  std::string family;
  std::int64_t parameters = 0;
  std::int64_t held_bytes = 0;   // parameters and buffers in f32
  std::int64_t train_bytes = 0;  // the planned peak of training on one sample (PlanNamedModel)
  std::string published;         // what it is and where: the first line of its file
};

// All of them in alphabetical order, planned under that memory preset. Throws ConfigError where
// there is no such preset.
std::vector<ModelListing> ListModels(const std::string& memory_preset);

}  // namespace frugal

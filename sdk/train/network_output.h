#pragma once

#include <string>
#include <vector>

#include "sdk/train/loss.h"

namespace frugal {

// Says what an output of a network is compared with, and how much that counts.
struct NetworkOutputOptions {
  // One of DataLayout::more_targets by its name; empty: the targets that all data have.
  std::string target{};
  LossOptions loss{};
  double weight = 1;  // of its loss in the sum that is minimized
};

// An output of a network beside its last value, which is its first output. What a network makes of
// its inputs ends in all of them, the first in front and the others in their order.
struct NetworkOutput {
  std::string name;
  NetworkOutputOptions options;
};
using NetworkOutputs = std::vector<NetworkOutput>;

}  // namespace frugal

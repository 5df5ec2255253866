#pragma once

#include <string>

#include "sdk/core/registry.h"
#include "sdk/train/loss.h"

namespace frugal {

// A loss by name, as files know it: [loss] kind = "confidence_penalty".
struct LossRow {
  std::string name;
  std::string doc = "";        // one sentence
  LossFunction function = {};  // none: one of ours, whose LossKind has the name
};

// Ours, and those that programs add: Losses().Add({.name = "confidence_penalty", .doc = "...",
// .function = ConfidencePenalty}), before configurations are read. Threads: as Registry.
Registry<LossRow>& Losses();

}  // namespace frugal

#pragma once

#include <cstdint>
#include <vector>

#include "sdk/module/parameter.h"

namespace frugal {

// Says which replica of a network holds what of a parameter (ZeRO, arXiv 1910.02054): from stage 1
// on one replica alone has the optimizer's state, from stage 2 on its gradient too, and at stage 3
// its value, which it sends to the others whenever they use it.
struct ParameterShards {
  static constexpr std::int64_t kEveryReplica = -1;

  std::int64_t stage = 0;
  std::int64_t own = 0;                 // the replica that this is
  std::vector<std::int64_t> holders{};  // by Parameter::index; empty at stage 0

  std::int64_t HolderOf(const Parameter& parameter) const {
    return stage == 0 ? kEveryReplica : holders[parameter.index];
  }
  // Says whether this replica updates the parameter.
  bool Updates(const Parameter& parameter) const {
    const std::int64_t holder = HolderOf(parameter);
    return holder == kEveryReplica || holder == own;
  }
  bool HoldsGradient(const Parameter& parameter) const { return stage < 2 || Updates(parameter); }
  bool HoldsValue(const Parameter& parameter) const { return stage < 3 || Updates(parameter); }
};

}  // namespace frugal

#pragma once

#include "sdk/comm/traffic.h"

namespace frugal {

// Says what a device hands to others in a training step, by whom it is for.
struct StageTraffic {
  Traffic next;      // activations, for the stage behind it
  Traffic previous;  // gradients, for the stage before it
  Traffic pipeline;  // for stages of its replica beside that: losses, norms, shared weights
  Traffic data;      // for its stage of other replicas: gradients and losses

  Traffic Total() const {
    Traffic total = next;
    return total += previous, total += pipeline, total += data;
  }
};

}  // namespace frugal

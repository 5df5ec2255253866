#pragma once

#include "builders/setup/training_setup.h"

namespace frugal {

// Prepares the training of device number `device`, where the network is placed like that. The setup
// has the device's part of the network and the parameters that it owns; a batch is split in
// gradient_accumulation_steps parts over all replicas.
TrainingSetup PrepareStage(const RunConfig& config, const DataLayout* custom_layout,
                           const Placement& placement, std::int64_t device);

}  // namespace frugal

#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Makes a forward product of f32 rows by BlockedGemm; nullptr where that does not pay.
std::unique_ptr<Operation> MakeBlockedForward(const LinearDescription& d);

}  // namespace frugal::onednn

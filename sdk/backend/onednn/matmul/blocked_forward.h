#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Makes a forward product of f32 rows by BlockedGemm or NoCopyGemm; nullptr where neither pays.
std::unique_ptr<Operation> MakeBlockedForward(const LinearDescription& d);

}  // namespace frugal::onednn

#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Makes a forward product of f32 rows by oneDNN's sgemm, to which bias and residual are added
// behind it; nullptr where that does not pay.
std::unique_ptr<Operation> MakeSgemmForward(const LinearDescription& d);

}  // namespace frugal::onednn

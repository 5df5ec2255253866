#pragma once

#include <functional>
#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Makes a forward product with a weight [outputs, inputs] of at least kColumnBlock outputs, which
// takes so many of them at a time, each by an operation that `make` returns; nullptr where `make`
// returns that.
std::unique_ptr<Operation> MakeColumnBlocks(
    const LinearDescription& d,
    const std::function<std::unique_ptr<Operation>(const LinearDescription&)>& make);

}  // namespace frugal::onednn

#pragma once

#include <functional>
#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Makes an operation whose activation runs behind it, in a loop of ours, where oneDNN's own makes a
// number of NaN, so that no loss would ever show that a training diverged: relu everywhere, and
// sigmoid without AVX2. `make` gets the description without that activation; where there is none of
// these, it gets the description as it is.
std::unique_ptr<Operation> WithSeparateActivation(
    const Description& description,
    const std::function<std::unique_ptr<Operation>(const Description&)>& make);

// Does so with any activation, for an operation that has none of its own.
std::unique_ptr<Operation> WithActivationBehind(
    const Description& description,
    const std::function<std::unique_ptr<Operation>(const Description&)>& make);

}  // namespace frugal::onednn

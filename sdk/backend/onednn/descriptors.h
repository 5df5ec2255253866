#pragma once

#include <memory>

#include "sdk/backend/onednn/descriptions.h"
#include "sdk/backend/onednn/operation.h"

// The adapter to oneDNN 2's way of describing primitives; a move to oneDNN 3 changes only
// descriptors.cpp.
namespace frugal::onednn {

// nullptr where oneDNN has only its plain reference loops for this, or nothing at all.
std::unique_ptr<Operation> Describe(const Description& description);

// Limits oneDNN's own process-wide cache of compiled primitives.
void LimitPrimitiveCache(int capacity);

}  // namespace frugal::onednn

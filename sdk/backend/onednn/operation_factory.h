#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

// The adapter to oneDNN 2's way of describing primitives; a move to oneDNN 3 changes only
// the *recipe*.cpp files.
namespace frugal::onednn {

// What oneDNN has for this; nullptr where that is only its plain reference loops, or nothing at
// all.
std::unique_ptr<Operation> DescribePrimitive(const Description& description);

// The same, or a kernel of ours where that is faster.
std::unique_ptr<Operation> Describe(const Description& description);

// Prepares oneDNN, once for each process: limits its process-wide cache of compiled primitives to
// `cached` of them, and the instructions that it may use to those that FRUGAL_ISA allows.
void PrepareLibrary(int cached);

}  // namespace frugal::onednn

#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

// These functions choose an operation: one of ours where that is faster, else one of oneDNN's
// primitives, which primitive/ describes for both of its versions.
namespace frugal::onednn {

// Makes what oneDNN has for this; nullptr where that is only its plain reference loops, or nothing
// at all.
std::unique_ptr<Operation> MakePrimitive(const Description& description);

// Makes a kernel of ours where that is faster, else what MakePrimitive makes.
std::unique_ptr<Operation> ChooseOperation(const Description& description);

// Prepares oneDNN, once for each process: limits its process-wide cache of compiled primitives to
// `cached` of them, and the instructions that it may use to those that FRUGAL_ISA allows.
void PrepareLibrary(int cached);

}  // namespace frugal::onednn

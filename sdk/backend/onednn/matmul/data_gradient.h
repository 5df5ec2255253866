#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// dx = dy weight of bf16 rows on matrix tiles. What is added up is the transpose of dx, in f32 in
// scratch: some hundreds of outputs at a time, rows of dy are packed in pairs to lie in the second
// cache of each core, and each thread turns tiles of the packed weight into panels that stay in its
// first cache while they meet all those rows. Each sum over the outputs has one order, whatever the
// number of threads.
// nullptr where the processor or the packed layout is another.
std::unique_ptr<Operation> MakeDataGradient(const PackedLinearDescription& description);

// Returns true where that operation is faster than oneDNN's inner product: with as many outputs as
// a vocabulary has, unless inputs or rows are few.
bool DataGradientPays(const PackedLinearDescription& description);

}  // namespace frugal::onednn

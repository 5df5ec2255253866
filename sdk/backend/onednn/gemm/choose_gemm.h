#pragma once

#include <cstdint>

#include "sdk/backend/onednn/gemm/gemm.h"

namespace frugal::onednn {

// Writes C, or adds to it, by BlockedGemm where that pays, else by oneDNN.
void Multiply(const Gemm& gemm, bool accumulate, float* c, void* scratch);
std::int64_t GemmScratch(const Gemm& gemm);  // of its sizes and transposes alone

}  // namespace frugal::onednn

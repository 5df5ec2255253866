#pragma once

#include <cstdint>

#include "sdk/backend/onednn/gemm/gemm.h"

namespace frugal::onednn {

// Writes C, or adds to it, by BlockedGemm where that pays, else by oneDNN.
void Multiply(const Gemm& gemm, bool accumulate, float* c, void* scratch);
std::int64_t GemmScratch(const Gemm& gemm);  // of its sizes and transposes alone

// Returns whether a gradient of a weight is better taken by oneDNN's matmul than by its sgemm. With
// AVX-512 it is, over many rows, where those of the left factor lie a multiple of 2 KB apart, which
// sgemm packs slowly, and those of the right are too short to make up for it (`./run bench
// libraries chargpt` prints both).
bool MatmulPays(const Gemm& gemm);

}  // namespace frugal::onednn

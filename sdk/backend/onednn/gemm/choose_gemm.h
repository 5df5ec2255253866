#pragma once

#include <cstdint>

#include "sdk/backend/onednn/gemm/gemm.h"

namespace frugal::onednn {

// Writes C, or adds to it, by BlockedGemm or NoCopyGemm where that pays, else by one call of sgemm.
void Multiply(const Gemm& gemm, bool accumulate, float* c, void* scratch);
std::int64_t GemmScratch(const Gemm& gemm);  // of all but its data

// Returns whether a gradient is better taken by oneDNN's matmul than by its sgemm, which packs a
// transposed factor slowly where what it reads one after another lies a multiple of 2 KB apart (of
// 4 KB, for a left factor, where the processor is not Intel's). So it is with AVX-512 for gradients
// of weights over many rows and of inputs by weights [in, out], but where the other factor is large
// enough to make up for it, or NoCopyGemm pays (`./run bench libraries chargpt gpt2_t64` prints
// both).
bool MatmulPays(const Gemm& gemm);

}  // namespace frugal::onednn

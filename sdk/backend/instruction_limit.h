#pragma once

#include <string_view>

namespace frugal {

// The most of the processor's instructions that the environment allows (FRUGAL_ISA = baseline,
// avx2, avx512, avx512_bf16 or amx); "" without a limit. Throws ConfigError where it is none of
// these.
std::string_view InstructionLimit();

// The most of the processor's instructions that kernels use here, by the same names.
std::string_view InstructionsInUse();

}  // namespace frugal

#pragma once

#include <cstdint>

// These functions tell what the processor has, each asked for once, less what the environment takes
// away.
//
// FRUGAL_ISA=baseline|avx2|avx512|avx512_bf16|amx is the most that may be used of it, so that every
// path can be tested on a machine that has more. It holds for our loops and for oneDNN, whose least
// is SSE 4.1. Anything else in that variable throws ConfigError where a backend is made.
namespace frugal::simd {

// The sets that loops.h is compiled for.
enum class InstructionSet : std::uint8_t { kBaseline, kAvx2, kAvx512 };
InstructionSet BestInstructionSet();

bool IsIntel();  // the maker of the processor

// AVX-512 with dot products and conversions of bf16, and the parts of AVX-512 that every processor
// with them has: F, BW, DQ, VL, VBMI.
bool HasAvx512Bf16();

// HasAvx512Bf16(), and matrix tiles with bf16 products that the kernel of the system lets this
// process use: Linux wants to be asked before the first tile is loaded (its arch/x86/xstate.rst).
// The first call asks. Kernels configure the tiles of their thread and release them before they
// return, since libraries do the same.
bool HasAmxBf16();

// Returns whether bf16 products take less time than f32 ones of f32 copies: with matrix tiles, and
// with dot products, but not on Intel's processors with AVX512-FP16 (since Sapphire Rapids), which
// start a dot product every second cycle and two multiply-adds in each (`./run bench peak`).
// FRUGAL_ISA=avx512_bf16 takes dot products there too, so that they can be tested.
bool HasFastBf16Products();

// The most that FRUGAL_ISA allows.
enum class IsaLimit : std::uint8_t { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kAmx, kNone };
IsaLimit LimitOfEnvironment();

}  // namespace frugal::simd

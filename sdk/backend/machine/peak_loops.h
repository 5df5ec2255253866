#pragma once

#include <cstdint>

// Single-threaded loops that do nothing but what a peak is of (machine_peak.h), compiled once for
// each instruction set. Whoever calls asks before whether the processor has it.
namespace frugal {

// Runs `rounds` of independent chains of one instruction that stay in registers, and returns what
// came of them, so that no compiler leaves them out.
struct ChainLoop {
  float (*run)(std::int64_t rounds) = nullptr;
  double flops = 0;  // of a round
};

// Loops over numbers that lie at multiples of 64 bytes, a multiple of 64 numbers.
struct PeakLoops {
  ChainLoop multiply_and_add;  // by one instruction where the set has one
  void (*copy)(const float* from, float* to, std::int64_t count);
  void (*streaming_copy)(const float* from, float* to, std::int64_t count);  // passes the caches by
  float (*read)(const float* from, std::int64_t count);
  // Each integer product waits for the one before: kProductCycles on every processor with AVX2.
  std::uint64_t (*multiply_in_turn)(std::int64_t products);
};
inline constexpr double kProductCycles = 4;  // 3, and 1 of a bitwise operation between two
const PeakLoops& BaselinePeakLoops();
const PeakLoops& Avx2PeakLoops();
const PeakLoops& Avx512PeakLoops();

// vdpbf16ps, for a processor of which simd::HasAvx512Bf16() is true.
ChainLoop Bf16DotLoop();
// tdpbf16ps, for a processor of which simd::HasAmxBf16() is true.
ChainLoop Bf16TileLoop();

}  // namespace frugal

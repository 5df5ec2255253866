#pragma once

#include <cstdint>
#include <string_view>

#include "sdk/core/dtype.h"

// Says what the processor and its memory do at most, by loops that do nothing else: what libraries
// and kernels reach is held against something physical. Each is the best of many short runs, since
// others may use the machine too.
namespace frugal {

// The instructions that products of floats are made of.
enum class ProductInstruction : std::uint8_t {
  kSse,  // one that multiplies and one that adds; only where there is no other
  kAvx2Fma,
  kAvx512Fma,
  kBf16Dot,   // of AVX-512: sums of two products
  kBf16Tile,  // of matrix tiles
};
inline constexpr ProductInstruction kProductInstructions[] = {
    ProductInstruction::kSse, ProductInstruction::kAvx2Fma, ProductInstruction::kAvx512Fma,
    ProductInstruction::kBf16Dot, ProductInstruction::kBf16Tile};
std::string_view NameOf(ProductInstruction instruction);  // "FMA, AVX-512"
DType FactorsOf(ProductInstruction instruction);          // kF32 or kBF16
// Returns whether the processor has it and the environment allows it (FRUGAL_ISA).
bool HasInstruction(ProductInstruction instruction);

// FLOP/s of `threads` threads at once; 0 where HasInstruction() is false. Takes `seconds` and some
// milliseconds more.
double MeasurePeak(ProductInstruction instruction, int threads, double seconds);
// The best of those instructions whose factors are of this type, on the threads that kernels use
// now; 0 of other types and of bf16 where the processor has no instructions for it.
double MeasureProductPeak(DType dtype, double seconds);

enum class MemoryStream : std::uint8_t {
  kCopy,
  kStreamingCopy,  // what is written passes the caches by
  kRead,
};
inline constexpr MemoryStream kMemoryStreams[] = {MemoryStream::kCopy, MemoryStream::kStreamingCopy,
                                                  MemoryStream::kRead};
std::string_view NameOf(MemoryStream stream);  // "streaming copy"
// Bytes a second, those that are read and those that are written, through arrays of so many bytes.
double MeasureStream(MemoryStream stream, int threads, std::int64_t bytes, double seconds);

// Cycles a second of this thread's core while it runs integer instructions.
double MeasureClock(double seconds);

}  // namespace frugal

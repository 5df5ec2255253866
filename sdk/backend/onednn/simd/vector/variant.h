#pragma once

// A source that includes this is compiled once for each instruction set (frugal_simd_variants in
// sdk/CMakeLists.txt), with FRUGAL_ISA as Baseline, Avx2 or Avx512: FRUGAL_VARIANT(Loops) is the
// name Avx2Loops where it is compiled for AVX2.
#define FRUGAL_JOIN_AGAIN(isa, name) isa##name
#define FRUGAL_JOIN(isa, name) FRUGAL_JOIN_AGAIN(isa, name)
#define FRUGAL_VARIANT(name) FRUGAL_JOIN(FRUGAL_ISA, name)

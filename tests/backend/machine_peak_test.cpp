#include "sdk/backend/machine/machine_peak.h"

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/machine/machine_limits.h"
#include "tests/catch.h"
#include "tests/skip.h"

namespace frugal {

// Others may use the processor while one of the two is measured.
bool PeakIsAboveProducts(DType dtype) {
  for (int trial = 0; trial < 5; ++trial) {
    if (MeasureProductPeak(dtype, 0.1) >= 0.95 * MeasureProductLimit(dtype, 0)) return true;
  }
  return false;
}

TEST_CASE("no product is faster than the peak of its instructions") {
  CHECK(PeakIsAboveProducts(DType::kF32));
  CHECK(PeakIsAboveProducts(DType::kBF16));
  CHECK(MeasureProductPeak(DType::kI64, 0) == 0);
}

TEST_CASE("instructions that the processor lacks have no peak") {
  for (const ProductInstruction instruction : kProductInstructions) {
    INFO(NameOf(instruction));
    CHECK((MeasurePeak(instruction, 1, 0) > 1e8) == HasInstruction(instruction));
  }
  CHECK((MeasureProductPeak(DType::kBF16, 0) > 0) == simd::HasAvx512Bf16());
}

TEST_CASE("an instruction's peak is what it computes in a cycle", "[needs-avx2]") {
  FRUGAL_SKIP_UNLESS(HasInstruction(ProductInstruction::kAvx2Fma), "there is no AVX2 here");
  // A clock that changes between the two may make it seem more than the 32 that there are.
  const double cycles = MeasureClock(0.05);
  CHECK(cycles > 5e8);
  CHECK(cycles < 1e10);
  CHECK(MeasurePeak(ProductInstruction::kAvx2Fma, 1, 0.05) < 60 * cycles);
}

TEST_CASE("memory is copied and read in pieces for each thread") {
  for (const MemoryStream stream : kMemoryStreams) {
    INFO(NameOf(stream));
    CHECK(MeasureStream(stream, 1, 100, 0) > 1e6);
    CHECK(MeasureStream(stream, ThreadCount(), 10'000'000, 0) > 1e8);
  }
}

}  // namespace frugal

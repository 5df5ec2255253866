#include "sdk/backend/machine/machine_limits.h"

#include "sdk/backend/common/cpu_features.h"
#include "tests/catch.h"

namespace frugal {

TEST_CASE("the machine's limits are measured, and 0 where there is no such product") {
  CHECK(MeasureProductLimit(DType::kF32, 0) > 1e8);
  CHECK(MeasureProductLimit(DType::kI64, 0) == 0);
  CHECK((MeasureProductLimit(DType::kBF16, 0) > 1e8) == simd::HasFastBf16Products());
  CHECK(MeasureCopyLimit(0) > 1e8);
}

TEST_CASE("an activation's type chooses its limit") {
  const MachineLimits limits{.product_f32 = 3, .product_bf16 = 20, .copy = 1};
  CHECK(limits.ProductOf(DType::kF32) == 3);
  CHECK(limits.ProductOf(DType::kBF16) == 20);
}

}  // namespace frugal

#include "sdk/backend/common/cpu_features.h"

#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "tests/catch.h"

using namespace frugal;

TEST_CASE("a processor with matrix tiles has the vectors that serve them") {
  CHECK((!simd::HasAmxBf16() || simd::HasFastBf16Products()));
  CHECK((!simd::HasFastBf16Products() || simd::HasAvx512Bf16()));
  CHECK((!simd::HasAvx512Bf16() ||
         simd::SelectLoops().f32.elementwise.add == simd::Avx512Loops().f32.elementwise.add));
  CHECK((!simd::HasAvx512Bf16() || &simd::SelectAttentionLoops() == &simd::Avx512AttentionLoops()));
  CHECK(simd::HasAmxBf16() == simd::HasAmxBf16());  // also when it has asked before
}

TEST_CASE("bf16 products are by dot products where FRUGAL_ISA names these") {
  if (simd::LimitOfEnvironment() != simd::IsaLimit::kAvx512Bf16) return;
  CHECK(simd::HasFastBf16Products() == simd::HasAvx512Bf16());
  CHECK_FALSE(simd::HasAmxBf16());
}

// Gradients of weights in f32 that oneDNN's matmul takes with AVX-512, on each side of every edge
// of that choice. With other instructions the same sizes are others'.
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/gemm/choose_gemm.h"
#include "tests/backend/onednn/product_support.h"

using namespace frugal;
using namespace frugal::testing;
using namespace frugal::onednn;

namespace {

bool HasAvx512() { return simd::BestInstructionSet() == simd::InstructionSet::kAvx512; }

struct ProductShape {
  std::int64_t m, n, k;
};

bool Pays(const ProductShape& s, char transpose_a = 'T') {
  return MatmulPays({.transpose_a = transpose_a, .transpose_b = 'N', .m = s.m, .n = s.n, .k = s.k});
}

}  // namespace

TEST_CASE("gradients of weights by matmul agree with the reference on each side of every edge") {
  Backends b;
  Dice dice(11);
  for (const Sizes& s : {Sizes{1024, 64, 1024},
                         {1023, 64, 1024},
                         {1025, 63, 1024},
                         {1024, 65, 1024},
                         {1031, 131, 1023},
                         {1024, 512, 1024},
                         {1024, 513, 1024},
                         {2053, 67, 1536},
                         {1024, 1024, 1024}}) {
    for (const WeightLayout layout : kLayouts) {
      CompareGradients(b, dice, s, layout);
      CompareGradients(b, dice, {s.rows, s.outputs, s.inputs}, layout);
    }
  }
}

TEST_CASE("matmul takes gradients of weights where sgemm packs slowly, with AVX-512") {
  for (const ProductShape& s :
       {ProductShape{1024, 64, 1024}, {1536, 512, 4096}, {5120, 384, 1 << 20}}) {
    CHECK(Pays(s) == HasAvx512());
    CHECK_FALSE(Pays(s, 'N'));
  }
  for (const ProductShape& s : {ProductShape{1023, 64, 1024},
                                {1025, 64, 1024},
                                {1024, 63, 1024},
                                {1024, 513, 1024},
                                {1024, 64, 1023},
                                {512, 64, 4096},
                                {0, 64, 1024}}) {
    CHECK_FALSE(Pays(s));
  }
}

TEST_CASE("oneDNN has a matmul of its own for gradients of weights, with AVX-512") {
  if (!HasAvx512()) return;
  for (const bool accumulate : {false, true}) {
    CHECK(MakePrimitive(WeightGradientDescription{
              .m = 1536, .n = 384, .k = 4096, .accumulate = accumulate}) != nullptr);
  }
}

TEST_CASE("a gradient of a weight by matmul repeats to the bit") {
  Backends b;
  Dice dice(12);
  const Tensor x = RandomTensor({1024, 96}, 1), dy = RandomTensor({1024, 1536}, 2);
  const LinearWeight weight = RandomWeight(dice, {1024, 96, 1536}, WeightLayout::kOutIn);
  const Tensor once = Backward(*b.fast, dy, x, weight, true).dweight;
  for (int round = 0; round < 3; ++round) {
    CHECK(SameBits(Backward(*b.fast, dy, x, weight, true).dweight, once));
  }
}

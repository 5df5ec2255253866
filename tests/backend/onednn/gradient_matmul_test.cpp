// Gradients in f32 that oneDNN's matmul takes with AVX-512, and weights that it copies first, on
// each side of every edge of these choices. With other instructions the same sizes are others'.
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/gemm/choose_gemm.h"
#include "tests/backend/onednn/product_support.h"
#include "tests/skip.h"

using namespace frugal;
using namespace frugal::testing;
using namespace frugal::onednn;

namespace {

bool HasAvx512() { return simd::BestInstructionSet() == simd::InstructionSet::kAvx512; }

struct ProductShape {
  std::int64_t m, n, k;
};

bool Pays(const std::string& orders, const ProductShape& s) {
  return MatmulPays(
      {.transpose_a = orders[0], .transpose_b = orders[1], .m = s.m, .n = s.n, .k = s.k});
}

}  // namespace

TEST_CASE("gradients by matmul agree with the reference on each side of every edge") {
  Backends b;
  Dice dice(11);
  for (const Sizes& s : {Sizes{1024, 64, 1024},
                         {1023, 64, 1024},
                         {1025, 63, 1024},
                         {1031, 131, 1023},
                         {1024, 512, 1024},
                         {1024, 513, 1024},
                         {2053, 67, 1536},
                         {16, 128, 512},
                         {15, 128, 512},
                         {17, 127, 1024},
                         {768, 513, 512},
                         {769, 513, 512},
                         {131, 260, 1536}}) {
    for (const WeightLayout layout : kLayouts) {
      CompareGradients(b, dice, s, layout);
      CompareGradients(b, dice, {s.rows, s.outputs, s.inputs}, layout);
    }
  }
}

TEST_CASE(
    "forward products agree with the reference where weights are copied first, and where not") {
  Backends b;
  Dice dice(13);
  for (const Sizes& s : {Sizes{63, 70, 3072},
                         {64, 70, 3072},
                         {64, 64, 3071},
                         {255, 40, 2560},
                         {256, 40, 2560},
                         {257, 40, 4099},
                         {1023, 33, 2304},
                         {1024, 33, 2305},
                         {1024, 33, 4096},
                         {2047, 40, 300},
                         {2048, 40, 300}}) {
    CompareForward(b, dice, s, WeightLayout::kInOut);
  }
}

TEST_CASE("a weight that is copied first takes its size of scratch", "[needs-avx512]") {
  FRUGAL_SKIP_UNLESS(HasAvx512(), "no AVX-512");
  constexpr std::int64_t kInputs = 500;  // deeper ones run by NoCopyGemm
  const auto backend = MakeBackend(BackendKind::kOneDnn);
  const auto copies = [&](std::int64_t rows, std::int64_t outputs) {
    const LinearWeight weight{RandomTensor({kInputs, outputs}, 1), WeightLayout::kInOut};
    const Tensor x = RandomTensor({rows, kInputs}, 2);
    return backend->product().LinearForwardScratch(x, weight) >= weight.tensor.bytes();
  };
  CHECK_FALSE(copies(63, 3072));
  CHECK(copies(64, 3072));
  CHECK(copies(64, 5120));
  CHECK_FALSE(copies(255, 3840));
  CHECK(copies(256, 3840));
  CHECK_FALSE(copies(1023, 4096));  // a power of two
  CHECK(copies(1024, 4096));
  CHECK_FALSE(copies(2047, 768));
  CHECK(copies(2048, 768));
}

TEST_CASE("matmul takes gradients where sgemm packs slowly, with AVX-512") {
  for (const ProductShape& s :
       {ProductShape{1024, 64, 1024}, {2048, 512, 4096}, {5120, 384, 1 << 20}}) {
    CHECK(Pays("TN", s) == HasAvx512());
    CHECK_FALSE(Pays("NN", s));
  }
  CHECK(Pays("TN", {1536, 512, 4096}) == (HasAvx512() && simd::IsIntel()));
  for (const ProductShape& s : {ProductShape{1023, 64, 1024},
                                {1025, 64, 1024},
                                {1024, 63, 1024},
                                {1024, 513, 1024},
                                {1024, 64, 1023},
                                {512, 64, 4096},
                                {0, 64, 1024}}) {
    CHECK_FALSE(Pays("TN", s));
  }
  for (const ProductShape& s :
       {ProductShape{16, 128, 512}, {383, 1 << 20, 3072}, {1 << 20, 191, 1024}}) {
    CHECK(Pays("NT", s) == HasAvx512());
    CHECK_FALSE(Pays("NN", s));
  }
  for (const ProductShape& s : {ProductShape{15, 128, 512},
                                {16, 127, 512},
                                {16, 128, 511},
                                {16, 128, 0},
                                {769, 513, 512}}) {
    CHECK_FALSE(Pays("NT", s));
  }
}

TEST_CASE("oneDNN has a matmul of its own for these gradients", "[needs-avx512]") {
  FRUGAL_SKIP_UNLESS(HasAvx512(), "no AVX-512");
  for (const bool accumulate : {false, true}) {
    CHECK(MakePrimitive(GemmDescription{
        .transpose_a = 'T', .m = 1536, .n = 384, .k = 4096, .accumulate = accumulate}));
    CHECK(MakePrimitive(GemmDescription{
        .transpose_b = 'T', .m = 256, .n = 768, .k = 3072, .accumulate = accumulate}));
  }
}

TEST_CASE("gradients by matmul repeat to the bit") {
  Backends b;
  Dice dice(12);
  const Tensor x = RandomTensor({1024, 128}, 1), dy = RandomTensor({1024, 1536}, 2);
  for (const WeightLayout layout : kLayouts) {
    const LinearWeight weight = RandomWeight(dice, {1024, 128, 1536}, layout);
    const Gradients once = Backward(*b.fast, dy, x, weight, true);
    for (int round = 0; round < 3; ++round) {
      const Gradients again = Backward(*b.fast, dy, x, weight, true);
      CHECK(SameBits(again.dweight, once.dweight));
      CHECK(SameBits(again.dx, once.dx));
    }
  }
}

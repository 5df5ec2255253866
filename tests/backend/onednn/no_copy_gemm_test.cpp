// Products in f32 by oneDNN's sgemm in blocks that it does not copy (AVX-512), on each side of
// every edge of that choice and of the blocks. With other instructions others take these sizes.
#include "sdk/backend/onednn/gemm/no_copy_gemm.h"

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/gemm/choose_gemm.h"
#include "sdk/core/threads.h"
#include "tests/backend/onednn/product_support.h"
#include "tests/skip.h"

using namespace frugal;
using namespace frugal::testing;
using namespace frugal::onednn;

namespace {

bool HasAvx512() { return simd::BestInstructionSet() == simd::InstructionSet::kAvx512; }

Gemm SizesOf(const std::string& orders, const Shape& mnk) {
  const std::int64_t m = mnk[0], n = mnk[1], k = mnk[2];
  return {.transpose_a = orders[0],
          .transpose_b = orders[1],
          .m = m,
          .n = n,
          .k = k,
          .stride_a = orders[0] == 'T' ? m : k,
          .stride_b = orders[1] == 'T' ? k : n};
}
bool Pays(const std::string& orders, const Shape& mnk) {
  return NoCopyGemmPays(SizesOf(orders, mnk));
}

}  // namespace

TEST_CASE("products in blocks that are not copied agree with the reference at every edge") {
  Dice dice(21);
  for (const int threads : {1, 2, 3}) {
    const MostThreadsScope scope(threads);
    Backends b;  // operations are made for the threads that there are
    for (const Sizes& s : {Sizes{64, 512, 576},
                           {63, 512, 576},
                           {128, 511, 576},
                           {257, 769, 577},
                           {200, 520, 191},
                           {200, 520, 192},
                           {1031, 512, 1451},
                           {513, 600, 481},
                           {511, 512, 1024},
                           {512, 512, 1024},
                           {384, 401, 385},
                           {383, 384, 200},
                           {384, 383, 200},
                           {96, 515, 3072}}) {
      CAPTURE(threads);
      for (const WeightLayout layout : kLayouts) {
        CompareForward(b, dice, s, layout);
        CompareGradients(b, dice, {s.rows, s.outputs, s.inputs}, layout);
      }
    }
  }
}

TEST_CASE("products in blocks add bias and residual, and repeat to the bit") {
  constexpr Sizes kSizes{530, 640, 1000};
  Dice dice(22);
  const Tensor x = RandomTensor({kSizes.rows, kSizes.inputs}, 1);
  const Tensor residual = RandomTensor({kSizes.rows, kSizes.outputs}, 2);
  const Tensor bias = RandomTensor({kSizes.outputs}, 3);
  Backends b;
  for (const WeightLayout layout : kLayouts) {
    const LinearWeight weight = RandomWeight(dice, kSizes, layout);
    const Tensor y = Forward(*b.fast, x, weight, bias, residual, {});
    CHECK(RelativeError(y, Forward(*b.reference, x, weight, bias, residual, {})) < kForward);
    for (int round = 0; round < kRepeats; ++round) {
      CHECK(SameBits(Forward(*b.fast, x, weight, bias, residual, {}), y));
    }
  }
}

TEST_CASE("blocks that are not copied are chosen by orders, sizes and strides, with AVX-512") {
  const MostThreadsScope scope(2);
  for (const Shape& mnk :
       {Shape{256, 768, 768}, {64, 2304, 512}, {64, 3072, 768}, {512, 4096, 512}}) {
    CHECK(Pays("NN", mnk) == HasAvx512());
    CHECK_FALSE(Pays("TN", mnk));
  }
  for (const Shape& mnk :
       {Shape{63, 768, 768}, {256, 768, 511}, {256, 191, 768}, {511, 4096, 512}, {0, 768, 768}}) {
    CHECK_FALSE(Pays("NN", mnk));
  }
  CHECK(Pays("NT", {384, 384, 384}) == HasAvx512());
  CHECK_FALSE(Pays("NT", {383, 384, 384}));
  CHECK_FALSE(Pays("NT", {384, 384, 383}));
  CHECK_FALSE(Pays("TT", {384, 384, 384}));
}

TEST_CASE("blocks take scratch for copies of ours alone", "[needs-avx512]") {
  FRUGAL_SKIP_UNLESS(HasAvx512(), "no AVX-512");
  const MostThreadsScope scope(2);
  constexpr std::int64_t kCopy = std::int64_t{384} * 384 * 4;
  CHECK(GemmScratch(SizesOf("NN", {256, 2304, 768})) == 0);
  CHECK(GemmScratch(SizesOf("NN", {256, 3072, 768})) == 2 * kCopy);
  CHECK(GemmScratch(SizesOf("NT", {512, 2304, 768})) == 2 * kCopy);
  CHECK(GemmScratch(SizesOf("NT", {4096, 192, 768})) == kCopy);
  CHECK(GemmScratch(SizesOf("NT", {512, 2304, 784})) == kCopy / 384 * 392 * 2);
}

TEST_CASE("a product that sgemm refuses is an error, not what was in memory before") {
  const Tensor a = RandomTensor({4, 4}, 1), b = RandomTensor({4, 4}, 2);
  const Tensor c = Uninitialized({4, 4});
  Gemm g = SizesOf("NN", {4, 4, 4});
  g.a = a.data<float>();
  g.b = b.data<float>();
  CHECK_NOTHROW(MultiplyByOneDnn(g, false, c.data<float>(), 4));
  CHECK_THROWS(MultiplyByOneDnn(g, false, c.data<float>(), 3));
  g.stride_b = 3;
  CHECK_THROWS(MultiplyByOneDnn(g, false, c.data<float>(), 4));
}

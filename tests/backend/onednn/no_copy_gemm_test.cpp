// Products that oneDNN multiplies as they lie on processors with AVX2 alone, some of which we pad
// or take apart. With other instructions the same sizes are oneDNN's as it comes.
#include "sdk/backend/onednn/matmul/no_copy_gemm.h"

#include "sdk/backend/common/cpu_features.h"
#include "tests/backend/onednn/product_support.h"

using namespace frugal;
using namespace frugal::testing;
using namespace frugal::onednn;

TEST_CASE(
    "products that are padded or taken apart agree with the reference on each side of every "
    "choice") {
  Backends b;
  Dice dice(5);
  for (const Sizes& s : {Sizes{32, 70, 512},
                         {31, 70, 512},
                         {40, 512, 600},
                         {33, 513, 512},
                         {64, 1100, 1024},
                         {300, 40, 1536},
                         {250, 1024, 40},
                         {192, 30, 1024},
                         {191, 30, 1024},
                         {200, 33, 1030},
                         {263, 20, 1537},
                         {256, 1, 2048},
                         {256, 0, 1024},
                         {256, 0, 1030}}) {
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      for (int round = 0; round < 3; ++round) CompareForward(b, dice, s, layout);
      CompareGradients(b, dice, s, layout);
    }
  }
}

TEST_CASE("what is padded or taken apart follows from the sizes, with AVX2 alone") {
  const bool avx2 = simd::BestInstructionSet() == simd::InstructionSet::kAvx2;
  CHECK(PaddingPays(256, 1024) == avx2);
  CHECK(PaddingPays(32, 512) == avx2);
  CHECK_FALSE(PaddingPays(31, 512));     // the copy costs what it saves
  CHECK_FALSE(PaddingPays(256, 1025));   // rows fall in all sets of the cache
  CHECK_FALSE(PaddingPays(1024, 1024));  // oneDNN packs it
  CHECK_FALSE(PaddingPays(0, 1024));
  CHECK(ColumnBlocksPay(256, 50257) == avx2);
  CHECK_FALSE(ColumnBlocksPay(128, 50257));
  CHECK_FALSE(ColumnBlocksPay(256, 1023));
  CHECK_FALSE(ColumnBlocksPay(1024, 50257));
}

TEST_CASE("a gradient of the input takes scratch where its weight is padded, and nowhere else") {
  Backends b;
  ProductKernels& product = b.fast->product();
  for (const std::int64_t rows : {31, 32, 263, 264, 1000}) {
    for (const std::int64_t inputs : {511, 512, 768, 1024}) {
      const Tensor dy = Uninitialized({rows, 300}), weight = Uninitialized({300, inputs});
      CAPTURE(rows, inputs);
      CHECK((product.LinearBackwardDataScratch(dy, weight) > 0) == PaddingPays(rows, inputs));
    }
  }
}

TEST_CASE("a padded product and one that is taken apart repeat to the bit") {
  Backends b;
  Dice dice(6);
  for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
    const LinearWeight weight = RandomWeight(dice, {200, 600, 1024}, layout);
    const Tensor x = RandomTensor({200, 600}, 1), bias = RandomTensor({1024}, 2);
    const Tensor residual = RandomTensor({200, 1024}, 3);
    const LinearEpilogue tanh{Activation::kTanh, 0};
    const Tensor y = Forward(*b.fast, x, weight, bias, residual, tanh);
    const Tensor dy = RandomTensor({200, 600}, 4);
    const LinearWeight back = RandomWeight(dice, {200, 1024, 600}, layout);
    const Tensor dx = Backward(*b.fast, dy, residual, back, true).dx;
    for (int i = 0; i < 5; ++i) {
      CHECK(SameBits(Forward(*b.fast, x, weight, bias, residual, tanh), y));
      CHECK(SameBits(Backward(*b.fast, dy, residual, back, true).dx, dx));
    }
  }
}

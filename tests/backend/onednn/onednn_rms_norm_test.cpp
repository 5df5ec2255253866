#include "sdk/backend/onednn/elementwise/sequence.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

struct Rms {
  Tensor y, rstd, dx, dweight;
  Rms(SequenceKernels& kernels, const Tensor& x, const Tensor& dy, const Tensor& weight,
      bool accumulate)
      : y(Uninitialized(x.shape(), x.dtype())),
        rstd(Uninitialized({x.shape().RowCount()}, MasterType(x.dtype()))),
        dx(Uninitialized(x.shape(), x.dtype())) {
    const Shape columns{x.shape().back()};
    const DType exact = MasterType(x.dtype());
    if (weight) dweight = accumulate ? Full(columns, 0.5, exact) : Uninitialized(columns, exact);
    kernels.RmsForward(x, weight, 1e-3, y, rstd);
    const Scratch scratch(kernels.RmsBackwardScratch(x));
    kernels.RmsBackward(dy, x, rstd, weight, dx, dweight, accumulate, scratch.get());
    CHECK(scratch.GuardIsIntact());
  }
};

void CheckClose(const Rms& fast, const Rms& reference, double tolerance, double sums) {
  CHECK(RelativeError(fast.y, reference.y) < tolerance);
  CHECK(RelativeError(fast.rstd, reference.rstd) < 1e-5);
  CHECK(RelativeError(fast.dx, reference.dx) < tolerance);
  if (fast.dweight) CHECK(RelativeError(fast.dweight, reference.dweight) < sums);
}

void Compare(DType dtype, double tolerance, double sums) {
  OneDnnSequenceKernels fast;
  EigenSequenceKernels reference;
  Dice dice(21);
  for (int round = 0; round < kRepeats; ++round) {
    const Shape shape{dice.Between(1, 900), dice.Between(2, 150)};
    INFO(ToString(shape));
    const Tensor x = RandomTensor(shape, dice.Seed(), dtype, -3, 3);
    const Tensor dy = RandomTensor(shape, dice.Seed(), dtype);
    const Tensor weight =
        dice.Flip() ? RandomTensor({shape.back()}, dice.Seed(), DType::kF32, 0.5, 2) : Tensor();
    const bool accumulate = dice.Flip();
    const auto wide = [](const Tensor& t) {
      return t ? MakeTensor(t.shape(), Values(t), DType::kF64) : Tensor();
    };
    CheckClose(Rms(fast, x, dy, weight, accumulate),
               Rms(reference, wide(x), wide(dy), wide(weight), accumulate), tolerance, sums);
  }
}

TEST_CASE("onednn rms norm agrees with the reference", "[backend][rms]") {
  Compare(DType::kF32, kForward, kGradient);
}

TEST_CASE("bf16 rms norm agrees with f64 on the same numbers", "[backend][rms]") {
  Compare(DType::kBF16, kBf16, kBf16Sums);
}

TEST_CASE("onednn rms norm has its edges", "[backend][rms]") {
  OneDnnSequenceKernels fast;
  const Rms none(fast, Full({0, 4}, 1), Full({0, 4}, 1), Full({4}, 1), false);
  CHECK(MaxError(none.dweight, Full({4}, 0)) == 0);
  const Rms zeros(fast, Full({3, 4}, 0), Full({3, 4}, 1), {}, false);
  CHECK(MaxError(zeros.y, Full({3, 4}, 0)) == 0);
  CHECK(RelativeError(zeros.rstd, Full({3}, 1 / std::sqrt(1e-3))) < 1e-6);
  const Tensor x = RandomTensor({7, 5}, 1), dy = RandomTensor({7, 5}, 2);
  const Rms apart(fast, x, dy, {}, false);
  fast.RmsBackward(dy, x, apart.rstd, {}, dy, {}, false, nullptr);  // in place
  CHECK(SameBits(dy, apart.dx));
}

}  // namespace

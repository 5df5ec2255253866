#include "sdk/backend/onednn/elementwise/sequence.h"
#include "sdk/core/error.h"
#include "tests/backend/onednn/bf16_support.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

Tensor In(const Tensor& t, DType dtype) { return MakeTensor(t.shape(), Values(t), dtype); }
Tensor Wide(const Tensor& t) { return In(t, DType::kF64); }

// With the errors that rounding explains.
struct Precision {
  DType dtype;
  double tolerance;
};
std::vector<Precision> Precisions() { return {{DType::kF32, kForward}, {DType::kBF16, kBf16}}; }

TEST_CASE("onednn gated units agree with the reference", "[backend][gated]") {
  OneDnnSequenceKernels fast;
  EigenSequenceKernels reference;
  Dice dice(31);
  for (const auto& [dtype, tolerance] : Precisions()) {
    for (int kind = 0; kind < static_cast<int>(kActivationCount); ++kind) {
      const auto f = static_cast<Activation>(kind);
      const bool gate_last = dice.Flip();
      const Shape half{dice.Between(1, 40), dice.Between(1, 600)};
      const Shape whole{half[0], 2 * half[1]};
      INFO(NameOf(f) << " " << NameOf(dtype) << " " << ToString(half));
      const Tensor x = RandomTensor(whole, dice.Seed(), dtype, -2.9, 2.9);
      const Tensor dy = RandomTensor(half, dice.Seed(), dtype);
      const Tensor y = Uninitialized(half, dtype), dx = Uninitialized(whole, dtype);
      const Tensor y64 = Uninitialized(half, DType::kF64), dx64 = Uninitialized(whole, DType::kF64);
      fast.GatedForward(f, gate_last, x, y);
      fast.GatedBackward(f, gate_last, dy, x, dx);
      reference.GatedForward(f, gate_last, Wide(x), y64);
      reference.GatedBackward(f, gate_last, Wide(dy), Wide(x), dx64);
      CHECK(RelativeError(y, y64) < tolerance);
      CHECK(RelativeError(dx, dx64) < 2 * tolerance);
      fast.GatedBackward(f, gate_last, dy, x, x);  // in place
      CHECK(SameBits(x, dx));
    }
  }
}

TEST_CASE("gates far from zero are closed or open", "[backend][gated]") {
  OneDnnSequenceKernels fast;
  for (const auto& [dtype, tolerance] : Precisions()) {
    for (const Activation f : {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh,
                               Activation::kQuickGelu, Activation::kSigmoid}) {
      INFO(NameOf(f) << " " << NameOf(dtype));
      const Tensor x = MakeTensor<double>({2, 2}, {-300, 3, 300, 3}, dtype);
      const Tensor y = Uninitialized({2, 1}, dtype), dx = Uninitialized({2, 2}, dtype);
      fast.GatedForward(f, false, x, y);
      const double open = f == Activation::kSigmoid ? 3 : 900;
      CHECK(std::abs(Value(y, 0)) < 1e-20);
      CHECK(Value(y, 1) == Approx(open).epsilon(4e-3));
      fast.GatedBackward(f, false, Full({2, 1}, 1, dtype), x, dx);
      for (std::int64_t i = 0; i < 4; ++i) CHECK(std::isfinite(Value(dx, i)));
    }
  }
}

TEST_CASE("onednn rotations agree with the reference", "[backend][rotary]") {
  OneDnnSequenceKernels fast;
  EigenSequenceKernels reference;
  Dice dice(32);
  for (const auto& [dtype, tolerance] : Precisions()) {
    for (int round = 0; round < kRepeats; ++round) {
      const std::int64_t pairs = dice.Between(0, 40), heads = dice.Between(1, 4);
      const std::int64_t positions = dice.Between(1, 70), offset = dice.Between(0, 5);
      const RotaryGeometry g{
          .offset = offset,
          .heads = heads,
          .head_size = 2 * pairs + dice.Between(1, 3),
          .rotary_size = 2 * pairs,
          .pairing = dice.Flip() ? RotaryPairing::kHalves : RotaryPairing::kNeighbours};
      CAPTURE(pairs, heads, positions, offset);
      const Shape shape{dice.Between(1, 3), positions, offset + heads * g.head_size + 2};
      const Tensor x = RandomTensor(shape, dice.Seed(), dtype), exact = Wide(x);
      const Tensor cosine = RandomTensor({positions, pairs}, dice.Seed());
      const Tensor sine = RandomTensor({positions, pairs}, dice.Seed());
      const bool inverse = dice.Flip();
      fast.Rotate(g, cosine, sine, inverse, x);
      reference.Rotate(g, Wide(cosine), Wide(sine), inverse, exact);
      CHECK(RelativeError(x, exact) < tolerance);
    }
  }
}

TEST_CASE("onednn rotations by learned angles agree with the reference", "[backend][rotary]") {
  OneDnnSequenceKernels fast;
  EigenSequenceKernels reference;
  Dice dice(33);
  for (const auto& [dtype, tolerance] : Precisions()) {
    for (int round = 0; round < kRepeats; ++round) {
      const Shape shape{dice.Between(1, 3), dice.Between(1, 300), dice.Between(1, 3),
                        2 * dice.Between(1, 40)};
      const Shape angles{shape[1], shape[2], shape[3] / 2};
      INFO(ToString(shape));
      const Tensor x = RandomTensor(shape, dice.Seed(), dtype);
      const Tensor dy = RandomTensor(shape, dice.Seed(), dtype);
      const Tensor cosine = RandomTensor(angles, dice.Seed()), sine = RandomTensor(angles, 9);
      const Tensor y = Uninitialized(shape, dtype), y64 = Uninitialized(shape, DType::kF64);
      const bool transpose = dice.Flip();
      fast.RotateBy(x, cosine, sine, transpose, y);
      reference.RotateBy(Wide(x), Wide(cosine), Wide(sine), transpose, y64);
      CHECK(RelativeError(y, y64) < tolerance);
      const Tensor dcosine = Uninitialized(angles), dsine = Uninitialized(angles);
      const Tensor dcosine64 = Uninitialized(angles, DType::kF64);
      const Tensor dsine64 = Uninitialized(angles, DType::kF64);
      fast.RotateByBackwardAngles(dy, x, dcosine, dsine);
      reference.RotateByBackwardAngles(Wide(dy), Wide(x), dcosine64, dsine64);
      CHECK(RelativeError(dcosine, dcosine64) < kForward);
      CHECK(RelativeError(dsine, dsine64) < kForward);
      fast.RotateBy(x, cosine, sine, transpose, x);  // in place
      CHECK(SameBits(x, y));
    }
  }
}

TEST_CASE("onednn sequence kernels take nothing, and refuse integers", "[backend][errors]") {
  OneDnnSequenceKernels fast;
  for (const auto& [dtype, tolerance] : Precisions()) {
    const Tensor none = Full({0, 4}, 0, dtype), half = Full({0, 2}, 0, dtype);
    fast.GatedForward(Activation::kSilu, false, none, half);
    fast.GatedBackward(Activation::kSilu, false, half, none, none);
    fast.Rotate({}, {}, {}, false, none);
  }
  const Tensor x = Full({1, 2}, 1, DType::kI64);
  CHECK_THROWS_AS(fast.GatedForward(Activation::kSilu, false, x, x), UsageError);
  CHECK_THROWS_AS(fast.Rotate({}, x, x, false, x), UsageError);
}

}  // namespace

#include "sdk/core/random.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

constexpr std::int64_t kSizes[] = {0, 1, 3, 16, 17, 255, 256, 257, 16384, 50001};

// Values on both sides of 0, near it, and far out.
Tensor Varied(std::int64_t n, std::uint64_t seed, double reach) {
  Tensor x = RandomTensor({n}, seed, DType::kF32, -reach, reach);
  for (std::int64_t i = 0; i < n; i += 3) x.data<float>()[i] *= 0.01f;
  return x;
}

}  // namespace

TEST_CASE("fast activations agree with the reference") {
  Backends b;
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    const auto kind = static_cast<Activation>(i);
    const double a = DefaultParameter(kind);
    for (const std::int64_t n : kSizes) {
      CAPTURE(NameOf(kind), n);
      const Tensor x = Varied(n, 1, 8), dy = RandomTensor({n}, 2);
      Tensor y = Full({n}, NAN), expected = Full({n}, NAN);
      b.fast->elementwise().ActivationForward(kind, a, x, y);
      b.reference->elementwise().ActivationForward(kind, a, x, expected);
      CHECK(RelativeError(y, expected) < kForward);
      const Tensor& kept = DerivesFromOutput(kind) ? expected : x;
      Tensor dx = Clone(dy), expected_dx = Full({n}, NAN);
      b.fast->elementwise().ActivationBackward(kind, a, dx, kept, dx);
      b.reference->elementwise().ActivationBackward(kind, a, dy, kept, expected_dx);
      CHECK(RelativeError(dx, expected_dx) < kGradient);
    }
  }
}

TEST_CASE("softplus and mish are as exact where they are small, element by element") {
  Backends b;
  const Tensor x = RandomTensor({4000}, 1, DType::kF32, -80, 20), dy = Full({4000}, 1);
  const Tensor exact_x = MakeTensor({4000}, Values(x), DType::kF64);
  const Tensor exact_dy = Full({4000}, 1, DType::kF64);
  for (const Activation kind : {Activation::kSoftplus, Activation::kMish}) {
    const Tensor y = Full({4000}, NAN), dx = Full({4000}, NAN);
    const Tensor exact_y = Full({4000}, NAN, DType::kF64),
                 exact_dx = Full(exact_y.shape(), NAN, DType::kF64);
    b.fast->elementwise().ActivationForward(kind, 0, x, y);
    b.fast->elementwise().ActivationBackward(kind, 0, dy, x, dx);
    b.reference->elementwise().ActivationForward(kind, 0, exact_x, exact_y);
    b.reference->elementwise().ActivationBackward(kind, 0, exact_dy, exact_x, exact_dx);
    const auto values = Values(y), slopes = Values(dx), expected = Values(exact_y),
               expected_slopes = Values(exact_dx);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(NameOf(kind), x.data<float>()[i]);
      REQUIRE(values[i] == Approx(expected[i]).epsilon(3e-6));
      // Mish's slope passes zero near -1.19, where two terms cancel.
      REQUIRE(slopes[i] == Approx(expected_slopes[i]).epsilon(1e-5).margin(2e-7));
    }
  }
}

TEST_CASE("fast activations keep to the reference at extreme values") {
  Backends b;
  const Tensor x = MakeTensor<double>({8}, {-1e4, -200, -88, -1e-6, 1e-6, 88, 200, 1e4});
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    const auto kind = static_cast<Activation>(i);
    if (kind == Activation::kExp) continue;
    CAPTURE(NameOf(kind));
    Tensor y = Full({8}, NAN), expected = Full({8}, NAN);
    b.fast->elementwise().ActivationForward(kind, DefaultParameter(kind), x, y);
    b.reference->elementwise().ActivationForward(kind, DefaultParameter(kind), x, expected);
    for (int j = 0; j < 8; ++j) {
      CHECK(Value(y, j) == Approx(Value(expected, j)).epsilon(1e-5).margin(1e-7));
    }
  }
  Tensor y = Full({8}, NAN);
  b.fast->elementwise().ActivationForward(Activation::kExp, 0, x, y);
  CHECK(Value(y, 0) == 0);
  CHECK(std::isinf(Value(y, 7)));
  const Tensor wrong = Full({20}, NAN);
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    Tensor out = Full({20}, 0);
    b.fast->elementwise().ActivationForward(static_cast<Activation>(i), 1, wrong, out);
    CAPTURE(NameOf(static_cast<Activation>(i)));
    CHECK(std::isnan(Value(out, 0)));
    CHECK(std::isnan(Value(out, 19)));
  }
}

TEST_CASE("fast add, scale and fill are exact, in place too") {
  Backends b;
  for (const std::int64_t n : kSizes) {
    const Tensor x = RandomTensor({n}, 1), y = RandomTensor({n}, 2);
    Tensor sum = Clone(x), scaled = Clone(x), filled = Full({n}, 1);
    Tensor expected_sum = Full({n}, 0), expected_scaled = Full({n}, 0);
    b.fast->elementwise().Add(sum, y, sum);
    b.reference->elementwise().Add(x, y, expected_sum);
    CHECK(SameBits(sum, expected_sum));
    b.fast->elementwise().Scale(scaled, 0.3, scaled);
    b.reference->elementwise().Scale(x, 0.3, expected_scaled);
    CHECK(SameBits(scaled, expected_scaled));
    b.fast->elementwise().Fill(filled, -2.5);
    CHECK(SameBits(filled, Full({n}, -2.5)));
  }
}

TEST_CASE("fast dropout keeps exactly the elements that the stream says") {
  Backends b;
  for (const double rate : {0.0, 1e-8, 0.1, 0.5, 1.0 / 3, 0.999, 1.0}) {
    for (const std::int64_t n : kSizes) {
      const std::uint64_t key = StreamKey(7, "dropout", 3);
      const Tensor x = Full({n}, 1.5);
      Tensor y = Full({n}, NAN), expected = Full({n}, NAN);
      b.fast->elementwise().Dropout(x, rate, key, y);
      b.reference->elementwise().Dropout(x, rate, key, expected);
      CAPTURE(rate, n);
      CHECK(SameBits(y, expected));
      for (std::int64_t i = 0; i < std::min<std::int64_t>(n, 600); ++i) {
        const bool kept = UniformAt(key, static_cast<std::uint64_t>(i)) >= rate;
        REQUIRE((y.data<float>()[i] != 0) == kept);
      }
    }
  }
}

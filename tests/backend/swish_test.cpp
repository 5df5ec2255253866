#include "sdk/backend/onednn/simd/swish.h"

#include <array>
#include <cmath>
#include <vector>

#include "tests/backend/bf16_support.h"

using namespace frugal;
using namespace frugal::simd;

namespace {

constexpr std::array<Swish, 3> kKinds = {
    Swish{}, Swish{.linear = 1.702f},
    Swish{.linear = 1.5957691216f, .cubic = 1.5957691216f * 0.044715f}};

double Sigmoid(double u) { return 1 / (1 + std::exp(-u)); }
double Value(const Swish& f, double x) { return x * Sigmoid(f.linear * x + f.cubic * x * x * x); }
double Slope(const Swish& f, double x) {
  const double s = Sigmoid(f.linear * x + f.cubic * x * x * x);
  return s + x * (f.linear + 3 * f.cubic * x * x) * s * (1 - s);
}

// Numbers of all sizes, of both signs.
std::vector<BFloat16> Inputs() {
  std::vector<BFloat16> x = {BFloat16(0.0f), BFloat16(-0.0f), BFloat16(3e38f)};
  for (float size = 1e-30f; size < 1e9f; size *= 1.37f) {
    x.emplace_back(size);
    x.emplace_back(-size);
  }
  return x;
}

// Half a step of bf16 and a little, on top of what is lost where a result cancels.
bool IsNear(BFloat16 value, double expected, double scale) {
  const double error = std::abs(static_cast<double>(static_cast<float>(value)) - expected);
  return error <= std::abs(expected) * 4.2e-3 + scale * 3e-4 + 1e-37;
}

}  // namespace

TEST_CASE("x sigmoid(u(x)) and its slope agree with their formulas, for numbers of all sizes") {
  FRUGAL_NEEDS_BF16();
  const std::vector<BFloat16> x = Inputs();
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<BFloat16> y(x.size()), dx(x.size());
  const std::vector<BFloat16> dy(x.size(), BFloat16(-0.75f));
  for (const Swish& f : kKinds) {
    SwishForward(f, x.data(), y.data(), n);
    SwishBackward(f, dy.data(), x.data(), dx.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = static_cast<float>(x[i]);
      CAPTURE(f.linear, at);
      CHECK(IsNear(y[i], Value(f, at), 0));
      if (std::abs(at) < 1e12) CHECK(IsNear(dx[i], -0.75 * Slope(f, at), 1));
    }
  }
}

TEST_CASE("x sigmoid(u(x)) of any count, in place, touches nothing behind it; NaN gives NaN") {
  FRUGAL_NEEDS_BF16();
  for (std::int64_t n = 0; n <= 67; ++n) {
    std::vector<BFloat16> x(80, BFloat16(1.0f)), y(80, BFloat16(9.0f));
    if (n > 0) x[static_cast<std::size_t>(n - 1)] = BFloat16(NAN);
    SwishForward(kKinds[2], x.data(), y.data(), n);
    SwishForward(kKinds[2], x.data(), x.data(), n);
    for (std::int64_t i = 0; i < 80; ++i) {
      const auto value = static_cast<float>(y[static_cast<std::size_t>(i)]);
      const auto in_place = static_cast<float>(x[static_cast<std::size_t>(i)]);
      CAPTURE(n, i);
      CHECK(std::isnan(value) == (i == n - 1));
      CHECK(std::isnan(in_place) == (i == n - 1));
      if (i >= n) CHECK((value == 9.0f && in_place == 1.0f));
      if (i < n - 1) CHECK((value == in_place && std::abs(value - 0.8412f) < 0.004f));
    }
  }
}

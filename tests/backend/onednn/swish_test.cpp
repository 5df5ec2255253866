#include "sdk/backend/onednn/simd/amx/swish.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sdk/backend/onednn/simd/loops.h"
#include "tests/backend/onednn/bf16_support.h"

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

// The f32 loops of every instruction set that this processor has.
std::vector<const simd::ElementwiseLoops<float>*> AllLoops() {
  std::vector<const simd::ElementwiseLoops<float>*> all = {&BaselineLoops().f32.elementwise,
                                                           &SelectLoops().f32.elementwise};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all.push_back(&Avx2Loops().f32.elementwise);
  }
  return all;
}

constexpr std::array<std::size_t, 3> kActivations = {
    static_cast<std::size_t>(Activation::kSilu), static_cast<std::size_t>(Activation::kQuickGelu),
    static_cast<std::size_t>(Activation::kGeluTanh)};

}  // namespace

TEST_CASE("the same in f32, for numbers of all sizes, with every instruction set") {
  std::vector<float> x;
  for (const BFloat16 value : Inputs()) x.push_back(static_cast<float>(value));
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<float> y(x.size()), dx(x.size());
  const std::vector<float> dy(x.size(), -0.75f);
  for (const auto* loops : AllLoops()) {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      loops->activation_forward[kActivations[kind]](x.data(), 0, y.data(), n);
      loops->activation_backward[kActivations[kind]](dy.data(), x.data(), 0, dx.data(), n);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = x[i], value = Value(kKinds[kind], at), slope = Slope(kKinds[kind], at);
        CAPTURE(kind, at);
        CHECK(std::abs(y[i] - value) <= 1e-6 * std::max(1.0, std::abs(value)));
        if (std::abs(at) < 1e12) CHECK(std::abs(dx[i] + 0.75 * slope) <= 1.5e-6);
      }
    }
  }
}

TEST_CASE("f32 loops of any count, in place, touch nothing behind it; NaN gives NaN") {
  for (const auto* loops : AllLoops()) {
    const auto forward = loops->activation_forward[kActivations[2]];
    const auto backward = loops->activation_backward[kActivations[2]];
    for (std::int64_t n = 0; n <= 35; ++n) {
      std::vector<float> x(40, 1.0f), y(40, 9.0f), dx(40, 9.0f);
      const std::vector<float> dy(40, 2.0f);
      if (n > 0) x[static_cast<std::size_t>(n - 1)] = NAN;
      forward(x.data(), 0, y.data(), n);
      backward(dy.data(), x.data(), 0, dx.data(), n);
      forward(x.data(), 0, x.data(), n);
      for (std::int64_t i = 0; i < 40; ++i) {
        const auto at = static_cast<std::size_t>(i);
        CAPTURE(n, i);
        CHECK(std::isnan(y[at]) == (i == n - 1));
        CHECK(std::isnan(x[at]) == (i == n - 1));
        CHECK(std::isnan(dx[at]) == (i == n - 1));
        if (i >= n) CHECK((y[at] == 9.0f && x[at] == 1.0f && dx[at] == 9.0f));
        if (i < n - 1) CHECK((y[at] == x[at] && std::abs(y[at] - 0.84119f) < 1e-5f));
        if (i < n - 1) CHECK(std::abs(dx[at] - 2 * 1.08296f) < 1e-4f);
      }
    }
  }
}

TEST_CASE("x sigmoid(u(x)) and its slope agree with their formulas, for numbers of all sizes",
          "[needs-bf16]") {
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

TEST_CASE("x sigmoid(u(x)) of any count, in place, touches nothing behind it; NaN gives NaN",
          "[needs-bf16]") {
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

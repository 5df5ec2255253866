#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/math.h"

// Each activation is a struct: Value(x, a), and Slope, the derivative, from y where
// DerivesFromOutput says so and from x otherwise.
namespace frugal::simd {
namespace {

struct Identity {
  static float Value(float x, float) { return x; }
  static float Slope(float, float) { return 1.0f; }
};
struct Relu {
  static float Value(float x, float) { return x < 0.0f ? 0.0f : x; }
  static float Slope(float y, float) { return y > 0.0f ? 1.0f : 0.0f; }
};
struct Gelu {
  static float Value(float x, float) { return x * NormalCdf(x); }
  static float Slope(float x, float) {
    const float density = 0.39894228040f * Exp(-0.5f * x * x);
    return NormalCdf(x) + x * density;
  }
};
struct GeluTanh {
  static constexpr float kScale = 0.79788456080f;  // sqrt(2 / pi)
  static constexpr float kCube = 0.044715f;
  // (1 + tanh(u)) / 2 = sigmoid(2 u)
  static float Value(float x, float) {
    return x * Sigmoid(2.0f * kScale * (x + kCube * x * x * x));
  }
  static float Slope(float x, float) {
    const float s = Sigmoid(2.0f * kScale * (x + kCube * x * x * x));
    return s + x * s * (1.0f - s) * 2.0f * kScale * (1.0f + 3.0f * kCube * x * x);
  }
};
struct QuickGelu {
  static constexpr float kFactor = 1.702f;
  static float Value(float x, float) { return x * Sigmoid(kFactor * x); }
  static float Slope(float x, float) {
    const float s = Sigmoid(kFactor * x);
    return s + kFactor * x * s * (1.0f - s);
  }
};
struct Silu {
  static float Value(float x, float) { return x * Sigmoid(x); }
  static float Slope(float x, float) {
    const float s = Sigmoid(x);
    return s + x * s * (1.0f - s);
  }
};
struct SigmoidFunction {
  static float Value(float x, float) { return Sigmoid(x); }
  static float Slope(float y, float) { return y * (1.0f - y); }
};
struct TanhFunction {
  static float Value(float x, float) { return Tanh(x); }
  static float Slope(float y, float) { return 1.0f - y * y; }
};
struct SoftplusFunction {
  static float Value(float x, float) { return Softplus(x); }
  static float Slope(float x, float) { return Sigmoid(x); }
};
// e^x - 1 without cancellation near 0: a polynomial there.
inline float ExpMinusOne(float x) {
  float p = 1.0f / 720.0f;
  p = p * x + 1.0f / 120.0f;
  p = p * x + 1.0f / 24.0f;
  p = p * x + 1.0f / 6.0f;
  p = p * x + 0.5f;
  p = p * x + 1.0f;
  return Absolute(x) < 0.25f ? p * x : Exp(x) - 1.0f;
}
struct Elu {
  static float Value(float x, float a) { return x > 0.0f ? x : a * ExpMinusOne(x); }
  static float Slope(float y, float a) { return y > 0.0f ? 1.0f : y + a; }
};
struct LeakyRelu {
  static float Value(float x, float a) { return x > 0.0f ? x : a * x; }
  static float Slope(float y, float a) { return y > 0.0f ? 1.0f : a; }
};
struct Mish {
  static float Value(float x, float) { return x * Tanh(Softplus(x)); }
  static float Slope(float x, float) {
    const float t = Tanh(Softplus(x));
    return t + x * Sigmoid(x) * (1.0f - t * t);
  }
};
struct Hardswish {
  static float Value(float x, float) {
    const float shifted = Largest(x + 3.0f, 0.0f);
    return x * (shifted > 6.0f ? 6.0f : shifted) * (1.0f / 6.0f);
  }
  static float Slope(float x, float) {
    const float inner = (2.0f * x + 3.0f) * (1.0f / 6.0f);
    const float bounded = x > 3.0f ? 1.0f : inner;
    return x < -3.0f ? 0.0f : bounded;
  }
};
struct ExpFunction {
  static float Value(float x, float) { return Exp(x); }
  static float Slope(float y, float) { return y; }
};

template <class Function>
void Forward(const float* x, float parameter, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = Function::Value(x[i], parameter);
}

template <class Function>
void Backward(const float* dy, const float* kept, float parameter, float* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * Function::Slope(kept[i], parameter);
}

// In the order of the enumeration.
inline constexpr std::array<ActivationForwardLoop, kActivationCount> kActivationForward = {
    Forward<Identity>,         Forward<Relu>,      Forward<Gelu>,
    Forward<GeluTanh>,         Forward<QuickGelu>, Forward<Silu>,
    Forward<SigmoidFunction>,  Forward<TanhFunction>,
    Forward<SoftplusFunction>, Forward<Elu>,       Forward<LeakyRelu>,
    Forward<Mish>,             Forward<Hardswish>, Forward<ExpFunction>};
inline constexpr std::array<ActivationBackwardLoop, kActivationCount> kActivationBackward = {
    Backward<Identity>,         Backward<Relu>,      Backward<Gelu>,
    Backward<GeluTanh>,         Backward<QuickGelu>, Backward<Silu>,
    Backward<SigmoidFunction>,  Backward<TanhFunction>,
    Backward<SoftplusFunction>, Backward<Elu>,       Backward<LeakyRelu>,
    Backward<Mish>,             Backward<Hardswish>, Backward<ExpFunction>};

}  // namespace
}  // namespace frugal::simd

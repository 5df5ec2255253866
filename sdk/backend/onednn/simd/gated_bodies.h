#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/short_activation_bodies.h"
#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/math.h"

// The functions of gated units, value and derivative from one exponential: accurate for f32,
// short for bf16.
namespace frugal::simd {
namespace {

template <class T>
float SigmoidFor(float x) {
  if constexpr (std::is_same_v<T, float>) return 1.0f / (1.0f + Exp(-x));
  return ShortSigmoid(x);
}

struct ValueAndSlope {
  float value, slope;
};

template <class T>
struct GateSigmoid {
  static ValueAndSlope At(float x) {
    const float s = SigmoidFor<T>(x);
    return {s, s * (1.0f - s)};
  }
};
// x sigmoid(b x)
template <class T>
ValueAndSlope SwishAt(float x, float b) {
  const float s = SigmoidFor<T>(b * x);
  return {x * s, s + b * x * s * (1.0f - s)};
}
template <class T>
struct GateSilu {
  static ValueAndSlope At(float x) { return SwishAt<T>(x, 1.0f); }
};
template <class T>
struct GateQuickGelu {
  static ValueAndSlope At(float x) { return SwishAt<T>(x, 1.702f); }
};
template <class T>
struct GateGeluTanh {
  static ValueAndSlope At(float x) {
    constexpr float kTwice = ShortGeluTanh::kTwice, kCubic = ShortGeluTanh::kCubic;
    const float square = x * x;
    const float s = SigmoidFor<T>(x * (kTwice + kCubic * square));
    return {x * s, s + x * (kTwice + 3.0f * kCubic * square) * s * (1.0f - s)};
  }
};
// x Phi(x), with Phi to 1.5e-7 by Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.26.
template <class T>
struct GateGelu {
  static ValueAndSlope At(float x) {
    const float z = (x < 0.0f ? -x : x) * 0.70710678f;
    const float t = 1.0f / (1.0f + 0.3275911f * z);
    const float density = Exp(-0.5f * x * x);
    float p = 1.061405429f;
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const float tail = 0.5f * p * t * density;
    const float below = x < 0.0f ? tail : 1.0f - tail;
    return {x * below, below + 0.39894228f * x * density};
  }
};

template <class Function, class T>
void GatedForward(const T* gate, const T* value, T* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    Put(y[i], Function::At(Get(gate[i])).value * Get(value[i]));
  }
}

// dgate may be gate, and dvalue value.
template <class Function, class T>
void GatedBackward(const T* dy, const T* gate, const T* value, T* dgate, T* dvalue,
                   std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const ValueAndSlope f = Function::At(Get(gate[i]));
    const float g = Get(dy[i]), v = Get(value[i]);
    Put(dgate[i], g * v * f.slope);
    Put(dvalue[i], g * f.value);
  }
}

template <class T>
constexpr GatedLoops<T> AllGatedLoops() {
  GatedLoops<T> loops{};
  const auto set = [&loops](Activation kind, auto forward, auto backward) {
    loops.forward[static_cast<unsigned>(kind)] = forward;
    loops.backward[static_cast<unsigned>(kind)] = backward;
  };
  set(Activation::kSigmoid, GatedForward<GateSigmoid<T>, T>, GatedBackward<GateSigmoid<T>, T>);
  set(Activation::kSilu, GatedForward<GateSilu<T>, T>, GatedBackward<GateSilu<T>, T>);
  set(Activation::kQuickGelu, GatedForward<GateQuickGelu<T>, T>,
      GatedBackward<GateQuickGelu<T>, T>);
  set(Activation::kGeluTanh, GatedForward<GateGeluTanh<T>, T>, GatedBackward<GateGeluTanh<T>, T>);
  set(Activation::kGelu, GatedForward<GateGelu<T>, T>, GatedBackward<GateGelu<T>, T>);
  return loops;
}

template <class T>
constexpr GatedLoops<T> kGatedLoops = AllGatedLoops<T>();

}  // namespace
}  // namespace frugal::simd

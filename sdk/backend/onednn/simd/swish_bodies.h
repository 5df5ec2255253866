#pragma once

#include "sdk/backend/onednn/simd/vector/prefetch.h"
#include "sdk/backend/onednn/simd/vector/vector_math.h"

// Activations x sigmoid(u(x)) with u(x) = linear x + cubic x^3, in f32: values within 1e-6 of the
// larger of 1 and |x|, slopes within 2e-6 of the larger of 1 and the slope. See all_bodies.h for
// the unnamed namespace.
namespace frugal::simd {
namespace {

struct SiluTerms {
  static constexpr float kLinear = 1, kCubic = 0;
};
struct QuickGeluTerms {
  static constexpr float kLinear = 1.702f, kCubic = 0;
};
struct GeluTanhTerms {  // x (1 + tanh(u / 2)) / 2
  static constexpr float kLinear = 1.5957691216f, kCubic = kLinear * 0.044715f;  // 2 sqrt(2 / pi)
};

// Holds what value and slope share.
template <class Terms>
struct SwishParts {
  Vector linear, cubic;  // of u / x
  Vector power;          // e^-u
  Vector sigmoid;

  explicit SwishParts(Vector x) : linear(Splat(Terms::kLinear)) {
    const Vector square = x * x;
    // Far beyond where sigmoids end; infinity times nothing would be no number.
    cubic = Terms::kCubic * (square > 1e6f ? Splat(1e6f) : square);
    const Vector t = x * (linear + cubic) * -1.44269504089f;
    power = PowerOfTwo(t > 126.0f ? Splat(126.0f) : t);
    sigmoid = t > 126.0f ? Vector{} : 1.0f / (1.0f + power);
  }
};

template <class Terms>
Vector SwishValues(Vector x) {
  return x * SwishParts<Terms>(x).sigmoid;
}
// s + x u'(x) s (1 - s)
template <class Terms>
Vector SwishSlopes(Vector x) {
  const SwishParts<Terms> p(x);
  const Vector inner = p.linear + 3.0f * p.cubic;
  return p.sigmoid + x * inner * (p.power * p.sigmoid * p.sigmoid);
}

// Loads up to kLanes elements; zeros stand for the rest.
inline Vector LoadFirst(const float* from, std::int64_t count) {
  if (count >= kLanes) return Load(from);
  Vector v = {};
  for (std::int64_t i = 0; i < count; ++i) v[i] = from[i];
  return v;
}
inline void StoreFirst(float* to, Vector v, std::int64_t count) {
  if (count >= kLanes) return Store(to, v);
  for (std::int64_t i = 0; i < count; ++i) to[i] = v[i];
}

template <class Terms>
void SwishForwardLoop(const float* x, float, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kLanes) {
    FetchAhead(x + i, kLanes);
    FetchAhead(y + i, kLanes);
    StoreFirst(y + i, SwishValues<Terms>(LoadFirst(x + i, n - i)), n - i);
  }
}

template <class Terms>
void SwishBackwardLoop(const float* dy, const float* x, float, float* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kLanes) {
    FetchAhead(dy + i, kLanes);
    FetchAhead(x + i, kLanes);
    FetchAhead(dx + i, kLanes);
    const Vector slope = SwishSlopes<Terms>(LoadFirst(x + i, n - i));
    StoreFirst(dx + i, LoadFirst(dy + i, n - i) * slope, n - i);
  }
}

}  // namespace
}  // namespace frugal::simd

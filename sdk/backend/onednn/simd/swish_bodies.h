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
  Vector square;  // x^2, within bounds
  Vector power;   // e^-u
  Vector sigmoid;

  explicit SwishParts(Vector x) {
    constexpr float kScale = -1.44269504089f;  // t is -u in units of ln 2
    // Far beyond where sigmoids end; infinity times nothing would be no number.
    square = Smallest(Splat(1e6f), x * x);
    const Vector t = x * (kScale * Terms::kLinear + kScale * Terms::kCubic * square);
    power = PowerOfTwo(Smallest(Splat(126.0f), t));
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
  const Vector inner = Terms::kLinear + 3.0f * Terms::kCubic * p.square;
  return p.sigmoid + x * inner * (p.power * p.sigmoid * p.sigmoid);
}

template <class Terms>
void SwishForwardLoop(const float* x, float, float* y, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    FetchAhead(x + i, kLanes);
    FetchAhead(y + i, kLanes);
    Store(y + i, SwishValues<Terms>(Load(x + i)));
  }
  if (i < n) StoreFirst(y + i, SwishValues<Terms>(LoadFirst(x + i, n - i)), n - i);
}

template <class Terms>
void SwishBackwardLoop(const float* dy, const float* x, float, float* dx, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    FetchAhead(dy + i, kLanes);
    FetchAhead(x + i, kLanes);
    FetchAhead(dx + i, kLanes);
    Store(dx + i, Load(dy + i) * SwishSlopes<Terms>(Load(x + i)));
  }
  if (i == n) return;
  const Vector slope = SwishSlopes<Terms>(LoadFirst(x + i, n - i));
  StoreFirst(dx + i, LoadFirst(dy + i, n - i) * slope, n - i);
}

}  // namespace
}  // namespace frugal::simd

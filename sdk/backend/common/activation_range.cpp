#include "sdk/backend/common/activation_range.h"

#include "sdk/backend/common/activation_math.h"

namespace frugal::eigen {
namespace {

// Calls body.operator()<kind>(), so that every kind gets a loop of its own.
template <class Body>
void WithActivation(Activation kind, const Body& body) {
  using enum Activation;
  switch (kind) {
    case kIdentity:
      return body.template operator()<kIdentity>();
    case kRelu:
      return body.template operator()<kRelu>();
    case kGelu:
      return body.template operator()<kGelu>();
    case kGeluTanh:
      return body.template operator()<kGeluTanh>();
    case kQuickGelu:
      return body.template operator()<kQuickGelu>();
    case kSilu:
      return body.template operator()<kSilu>();
    case kSigmoid:
      return body.template operator()<kSigmoid>();
    case kTanh:
      return body.template operator()<kTanh>();
    case kSoftplus:
      return body.template operator()<kSoftplus>();
    case kElu:
      return body.template operator()<kElu>();
    case kLeakyRelu:
      return body.template operator()<kLeakyRelu>();
    case kMish:
      return body.template operator()<kMish>();
    case kHardswish:
      return body.template operator()<kHardswish>();
    case kExp:
      return body.template operator()<kExp>();
  }
}

// In place gets a loop of its own: with two pointers that may overlap, compilers fall back to one
// element at a time.
template <Activation kKind, class T>
void Forward(T a, const T* x, T* y, std::int64_t count) {
  if (x == y) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = Activate<kKind>(y[i], a);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = Activate<kKind>(x[i], a);
  }
}

// A product with 0 or 1 would become a branch, and pass a NaN through a cut-off element.
template <Activation kKind, class T>
T Gradient(T dy, T kept, [[maybe_unused]] T a) {
  if constexpr (kKind == Activation::kRelu) {
    return kept > T{0} ? dy : T{0};
  } else {
    return dy * Derivative<kKind>(kept, a);
  }
}

template <Activation kKind, class T>
void Backward(T a, const T* dy, const T* kept, T* dx, std::int64_t count) {
  if (dy == dx) {
    for (std::int64_t i = 0; i < count; ++i) dx[i] = Gradient<kKind>(dx[i], kept[i], a);
  } else {
    for (std::int64_t i = 0; i < count; ++i) dx[i] = Gradient<kKind>(dy[i], kept[i], a);
  }
}

}  // namespace

template <class T>
void ActivateRange(Activation kind, double parameter, const T* x, T* y, std::int64_t count) {
  WithActivation(
      kind, [&]<Activation kKind>() { Forward<kKind>(static_cast<T>(parameter), x, y, count); });
}

template <class T>
void ActivateGradientRange(Activation kind, double parameter, const T* dy, const T* kept, T* dx,
                           std::int64_t count) {
  WithActivation(kind, [&]<Activation kKind>() {
    Backward<kKind>(static_cast<T>(parameter), dy, kept, dx, count);
  });
}

template void ActivateRange(Activation, double, const float*, float*, std::int64_t);
template void ActivateRange(Activation, double, const double*, double*, std::int64_t);
template void ActivateGradientRange(Activation, double, const float*, const float*, float*,
                                    std::int64_t);
template void ActivateGradientRange(Activation, double, const double*, const double*, double*,
                                    std::int64_t);

}  // namespace frugal::eigen

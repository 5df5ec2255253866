#pragma once

#include <cstdint>

#include "sdk/backend/activation.h"

namespace frugal::eigen {

// y[i] = activation(x[i]) for count elements, on the calling thread; y may be x.
// Instantiated for float and double.
template <class T>
void ActivateRange(Activation kind, double parameter, const T* x, T* y, std::int64_t count);

// dx[i] = dy[i] * derivative; `kept` holds outputs where DerivesFromOutput(kind), else inputs.
template <class T>
void ActivateGradientRange(Activation kind, double parameter, const T* dy, const T* kept, T* dx,
                           std::int64_t count);

}  // namespace frugal::eigen

#pragma once

#include <cstdint>

#include "sdk/autograd/context.h"

namespace frugal {

// Images [N, H, W, C] -> [N, factor H, factor W, C]. Keeps nothing; what is behind it keeps x, and
// y is rematerialized.
enum class Upsampling : std::uint8_t { kNearest, kBilinear };
Var Upsample(Context& context, const Var& x, std::int64_t factor, Upsampling kind);

}  // namespace frugal

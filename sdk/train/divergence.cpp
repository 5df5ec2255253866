#include "sdk/train/divergence.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace frugal {
namespace {

// True where an exponent has all of its bits, which is so for infinities and NaN alone. Integers,
// since comparisons of floats in a sum are not turned into vectors.
template <class Bits, class T>
bool HasFullExponent(const T* values, std::int64_t count, Bits exponent) {
  Bits any = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Bits bits = std::bit_cast<Bits>(values[i]) & exponent;
    any |= bits == exponent ? Bits{1} : Bits{0};
  }
  return any != 0;
}

}  // namespace

std::string_view NameOf(DivergencePolicy policy) {
  return policy == DivergencePolicy::kStop ? "stop" : "warn";
}

std::string NonFiniteText(double value) {
  if (std::isnan(value)) return "not a number";
  return value > 0 ? "infinite" : "minus infinity";
}

DivergenceError Diverged(const std::string& found) {
  return DivergenceError(
      {.where = "training.on_divergence",
       .required = "a training goes on while its numbers are finite",
       .given = found,
       .advice = "try a smaller optimizer.lr or training.clip_gradient_norm, and look for NaN in "
                 "the data and in the weights that it began with; on_divergence = \"warn\" goes on "
                 "all the same"});
}

bool IsFinite(const Tensor& tensor) {
  if (tensor.dtype() == DType::kF64) {
    constexpr std::uint64_t kExponent = 0x7ff0000000000000;
    return !HasFullExponent(tensor.data<double>(), tensor.size(), kExponent);
  }
  assert(tensor.dtype() == DType::kF32);
  constexpr std::uint32_t kExponent = 0x7f800000;
  return !HasFullExponent(tensor.data<float>(), tensor.size(), kExponent);
}

}  // namespace frugal

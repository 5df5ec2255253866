#include "sdk/ops/rotary.h"

#include <cmath>

namespace frugal {
namespace {

template <class T>
void Fill(const RotaryPositions& p, std::span<T> cosine, std::span<T> sine) {
  const std::int64_t pairs = p.rotary_size / 2;
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto exponent =
        static_cast<double>(2 * (at % pairs)) / static_cast<double>(p.rotary_size);
    const double angle = static_cast<double>(p.first + at / pairs) * std::pow(p.base, -exponent);
    cosine[i] = static_cast<T>(std::cos(angle));
    sine[i] = static_cast<T>(std::sin(angle));
  }
}

}  // namespace

RotaryAngles AnglesOf(Context& context, const RotaryPositions& positions) {
  const Shape shape = {positions.positions, positions.rotary_size / 2};
  const RotaryAngles angles = {context.Allocate(shape, context.exact_dtype()),
                               context.Allocate(shape, context.exact_dtype())};
  context.Launch({OperationKind::kElementwise, BytesOf(angles.cosine, angles.sine)},
                 [&](Backend&, void*) {
                   if (context.dtype() == DType::kF64) {
                     Fill(positions, angles.cosine.values<double>(), angles.sine.values<double>());
                   } else {
                     Fill(positions, angles.cosine.values<float>(), angles.sine.values<float>());
                   }
                 });
  return angles;
}

}  // namespace frugal

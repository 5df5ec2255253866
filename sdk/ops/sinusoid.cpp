#include "sdk/ops/sinusoid.h"

#include <cmath>

#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

Shape WithLast(const Shape& shape, std::int64_t extent) {
  std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
  extents.push_back(extent);
  return Shape(extents);
}

// As public code has them: f32 numbers from f32 exponents, with which the published weights were
// trained. Exact ones turn times near 1000 by up to 5e-4 more or less.
template <class T>
void Fill(const TimestepOptions& o, std::span<T> frequencies) {
  const auto last = static_cast<float>(static_cast<double>(frequencies.size()) - o.frequency_shift);
  const auto fall = static_cast<float>(-std::log(o.max_period));
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    frequencies[k] = static_cast<T>(std::exp(fall * static_cast<float>(k) / last));
  }
}

Tensor Frequencies(Context& context, const TimestepOptions& options, DType dtype) {
  const Tensor frequencies = context.Allocate({options.features / 2}, dtype);
  context.Launch({OperationKind::kElementwise, BytesOf(frequencies)}, [&](Backend&, void*) {
    if (dtype == DType::kF64) {
      Fill(options, frequencies.values<double>());
    } else {
      Fill(options, frequencies.values<float>());
    }
  });
  return frequencies;
}

void CheckOptions(Context& context, const Var& t, const TimestepOptions& options) {
  const std::int64_t angles = options.features / 2;
  if (options.features < 2 || static_cast<double>(angles) <= options.frequency_shift) {
    ThrowShape(context,
               "features of a time step are at least two, and their half more than the frequency "
               "shift (here " +
                   std::to_string(options.features) + " features)",
               t.shape(), "ask for more features, or set the shift to 0");
  }
}

}  // namespace

Var SineCosine(Context& context, const Var& angles, bool cosine_first) {
  if (IsBf16(angles)) {
    return ToActivation(context, SineCosine(context, CastToF32(context, angles), cosine_first));
  }
  if (angles.shape().rank() == 0) {
    ThrowShape(context, "sines and cosines are of angles [..., K]", angles.shape(),
               "give the angles an axis");
  }
  Shape shape = angles.shape();
  shape[shape.rank() - 1] *= 2;
  const Tensor y = context.Allocate(shape, angles.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(angles.value, y)},
                 [&](Backend& backend, void*) {
                   backend.sequence().SineCosine(angles.value, cosine_first, y);
                 });
  return context.Record(
      y, angles.needs_gradient(),
      [y, cosine_first, slot = angles.slot, back = angles.shape()](Context& ctx, Tensor dy) {
        const Tensor dangles = ctx.Allocate(back, dy.dtype());
        ctx.Launch({OperationKind::kElementwise, BytesOf(dy, y, dangles)},
                   [&](Backend& backend, void*) {
                     backend.sequence().SineCosineBackward(dy, y, cosine_first, dangles);
                   });
        ctx.Accumulate(slot, dangles);
      });
}

Var TimestepFeatures(Context& context, const Var& t, const TimestepOptions& options) {
  CheckOptions(context, t, options);
  const Var exact = CastToF32(context, t);
  // The scale comes first, as in public code, whose rounding of large times is then met.
  const Var scaled = options.scale == 1 ? exact : Scale(context, exact, options.scale);
  const Var column = Reshape(context, scaled, WithLast(exact.shape(), 1));
  const Var frequencies = {Frequencies(context, options, exact.dtype())};
  const Var angles = Arithmetic(context, BinaryKind::kMultiply, column, frequencies);
  Var features = SineCosine(context, angles, options.cosine_first);
  if (options.features % 2 != 0) {
    const std::vector<std::int64_t> none(features.shape().rank(), 0);
    std::vector<std::int64_t> one = none;
    one.back() = 1;
    features = Pad(context, features, none, one);
  }
  return ToActivation(context, features);
}

}  // namespace frugal

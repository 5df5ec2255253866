#include "sdk/ops/spatial/patches.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/support/check.h"

namespace frugal {

Var PatchesOf(Context& context, const Var& x, std::int64_t p, PatchOrder order) {
  const Shape& s = x.shape();
  if (s.rank() != 4 || p < 1 || s[1] % p != 0 || s[2] % p != 0) {
    ThrowShape(context,
               "images [N, H, W, C] whose height and width are multiples of the patch size " +
                   std::to_string(p),
               s, "pad or crop the image, or choose another patch size");
  }
  const std::int64_t rows = s[1] / p, columns = s[2] / p, channels = s[3];
  const Var pixels = Reshape(context, x, {s[0], rows, p, columns, p, channels});
  const Shape axes =
      order == PatchOrder::kChannelsLast ? Shape{0, 1, 3, 2, 4, 5} : Shape{0, 1, 3, 5, 2, 4};
  return Reshape(context, Permute(context, pixels, axes), {s[0], rows, columns, p * p * channels});
}

Var ImageOf(Context& context, const Var& x, std::int64_t p, PatchOrder order) {
  const Shape& s = x.shape();
  if (s.rank() != 4 || p < 1 || s[3] % (p * p) != 0) {
    ThrowShape(context,
               "patches [N, h, w, p p C] whose features are a multiple of the square of the patch "
               "size " +
                   std::to_string(p),
               s, "project to as many features as the patch has numbers");
  }
  const std::int64_t channels = s[3] / (p * p);
  const bool last = order == PatchOrder::kChannelsLast;
  const Shape parts =
      last ? Shape{s[0], s[1], s[2], p, p, channels} : Shape{s[0], s[1], s[2], channels, p, p};
  const Shape axes = last ? Shape{0, 1, 3, 2, 4, 5} : Shape{0, 1, 4, 2, 5, 3};
  return Reshape(context, Permute(context, Reshape(context, x, parts), axes),
                 {s[0], s[1] * p, s[2] * p, channels});
}

}  // namespace frugal

#include "layers/blocks/subregions.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/support/check.h"

namespace frugal {

Var SplitIn(Context& context, const Subregions& regions, const Var& x) {
  if (regions.parts == 1) return x;
  const Shape& s = x.shape();
  if (s[1] % regions.multiple() != 0) {
    ThrowShape(context,
               "attention within parts takes sequences of a multiple of " +
                   std::to_string(regions.multiple()) + " tokens",
               s, "pad the text, or choose another size of images");
  }
  const std::int64_t rounds = s[1] / regions.multiple();
  const Var runs = Reshape(context, x, {s[0], rounds, regions.parts, regions.run, s[2]});
  const Var dealt = Permute(context, runs, {0, 2, 1, 3, 4});
  return Reshape(context, dealt, {s[0] * regions.parts, s[1] / regions.parts, s[2]});
}

Var JoinedFrom(Context& context, const Subregions& regions, const Var& x) {
  if (regions.parts == 1) return x;
  const Shape& s = x.shape();
  const std::int64_t batch = s[0] / regions.parts;
  const Var dealt =
      Reshape(context, x, {batch, regions.parts, s[1] / regions.run, regions.run, s[2]});
  const Var runs = Permute(context, dealt, {0, 2, 1, 3, 4});
  return Reshape(context, runs, {batch, s[1] * regions.parts, s[2]});
}

}  // namespace frugal

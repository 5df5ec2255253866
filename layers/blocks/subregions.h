#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// Tells how attention cuts a sequence into parts that do not see each other: runs of `run` tokens
// are dealt to `parts` parts in turn (alternating subregion attention of Nitro-E;
// github.com/AMD-AGI/Nitro-E).
struct Subregions {
  std::int64_t parts = 1;
  std::int64_t run = 1;

  std::int64_t multiple() const { return parts * run; }  // sequences are multiples of it
};

// [N, T, D] -> [N parts, T / parts, D]. Throws ShapeError where T is no such multiple.
Var SplitIn(Context& context, const Subregions& regions, const Var& x);
// The way back.
Var JoinedFrom(Context& context, const Subregions& regions, const Var& x);

}  // namespace frugal

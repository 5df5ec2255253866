#include "layers/joins/saved_values.h"

#include <array>

namespace frugal {

void SaveLayer::ForwardTuple(Context&, VarTuple& vars) {
  for (std::size_t i = 0; i < joins_; ++i) PushSkip(vars, vars[0]);
}

void JoinLayer::ForwardTuple(Context& context, VarTuple& vars) {
  Var saved = std::move(vars[place_]);
  vars.erase(vars.begin() + static_cast<std::ptrdiff_t>(place_));
  saved.is_skip = false;
  const std::array<Var, 2> both = {std::move(vars[0]), std::move(saved)};
  vars[0] = Combined(context, options_.combine, both);
}

}  // namespace frugal

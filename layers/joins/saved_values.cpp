#include "layers/joins/saved_values.h"

#include <array>
#include <utility>

namespace frugal {
namespace {

// Returns the named value, which leaves the tuple unless it stays for others.
Var ValueAt(VarTuple& vars, const NamedPlace& place) {
  const auto at = vars.end() - static_cast<std::ptrdiff_t>(place.from_end);
  Var value = *at;
  if (!place.stays) vars.erase(at);
  value.is_skip = false;
  return value;
}

}  // namespace

void SaveLayer::ForwardTuple(Context&, VarTuple& vars) {
  for (std::size_t i = 0; i < readers_; ++i) PushSkip(vars, vars[0]);
}

void JoinLayer::ForwardTuple(Context& context, VarTuple& vars) {
  Var value = ValueAt(vars, place_);
  const std::array<Var, 2> both = {std::move(vars[0]), std::move(value)};
  vars[0] = Combined(context, options_.combine, both);
}

void TakeLayer::ForwardTuple(Context&, VarTuple& vars) {
  vars[0] = Var();
  vars[0] = ValueAt(vars, place_);
}

}  // namespace frugal

#pragma once

#include <span>
#include <string_view>

#include "sdk/autograd/context.h"

namespace frugal {

// Puts values together: a sum, a product or a difference, where extents of 1 are repeated, or side
// by side along the last axis.
enum class Combine : std::uint8_t { kAdd, kMultiply, kConcat, kSubtract, kCount };
std::string_view NameOf(Combine combine);  // "add", "multiply", "concat", "subtract"

// Combines values in their order, at least one. Throws ShapeError where their shapes do not go
// together.
Var Combined(Context& context, Combine combine, std::span<const Var> values);

}  // namespace frugal

#pragma once

#include <string>

#include "sdk/autograd/context.h"

namespace frugal {

// Checks of inputs that several layers share. Each throws ShapeError naming the layer.

// The last axis has `width` elements.
void CheckWidth(Context& context, const std::string& layer, std::int64_t width, const Var& input);

// [N, T, D] with at least one position.
void CheckIsSequence(Context& context, const std::string& layer, const Var& input);

}  // namespace frugal

#pragma once

#include <cstdint>
#include <string_view>

#include "sdk/core/dtype.h"
#include "sdk/core/shape.h"

namespace frugal {

// How momentum and moments are stored; they are computed in the parameter's type (f32).
enum class StateFormat : std::uint8_t {
  kF32,   // 4 bytes an element: as the parameter
  kBF16,  // 2
  k8Bit,  // 1, and an f32 scale for every 256 elements (sdk/backend/state_codec.h)
  kCount
};
std::string_view NameOf(StateFormat format);  // "f32", "bf16", "8bit"

// Parameters of fewer elements keep their 8-bit state in f32, as in Dettmers et al.,
// arXiv:2110.02861, section 3: they are biases and norms, whose state weighs nothing.
inline constexpr std::int64_t kSmallest8BitState = 4096;

struct StateForm {
  DType dtype = DType::kF32;
  Shape shape;
};
// Returns the form of one state tensor of a parameter.
StateForm FormOf(StateFormat format, const Shape& parameter, DType dtype);

}  // namespace frugal

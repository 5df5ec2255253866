#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sdk/core/error.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Says what a training does where a loss, a gradient's norm or a weight is no longer a finite
// number.
enum class DivergencePolicy : std::uint8_t {
  kStop,  // ends in a DivergenceError, before anything is updated with it
  kWarn,  // warns once and goes on
};
std::string_view NameOf(DivergencePolicy policy);  // "stop", "warn"

// A training whose numbers are no longer finite.
class DivergenceError : public Error {
 public:
  using Error::Error;
};

// The error for what was found: "the loss of step 3 is infinite".
DivergenceError Diverged(const std::string& found);
// "not a number", "infinite" or "minus infinity", for a number that is not finite.
std::string NonFiniteText(double value);

// True where every element of a tensor in f32 or f64 is finite: neither NaN nor infinite.
bool IsFinite(const Tensor& tensor);

}  // namespace frugal

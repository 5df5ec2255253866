#pragma once

#include <cstdint>
#include <string_view>

#include "sdk/tensor/tensor.h"

namespace frugal {

// How far numbers are from those they should be, gathered piece by piece.
struct ErrorMeasure {
  std::int64_t count = 0;
  double largest = 0;         // |got - wanted|
  double scale = 0;           // largest |wanted|
  double squares = 0;         // sum of (got - wanted)^2
  double wanted_squares = 0;  // sum of wanted^2
  std::int64_t ulp = 0;       // largest distance in steps of the type, where both have one type
  std::int64_t not_finite =
      0;                  // elements where one is NaN or infinite and the other is not the same
  bool same_bits = true;  // of elements of one type

  double relative() const;  // largest / scale; 0 where both are 0
  double rms() const;       // root of squares / wanted_squares
};

// Adds what two tensors of as many elements say, of any floating types.
void Measure(const Tensor& got, const Tensor& wanted, ErrorMeasure& measure);

// Returns the largest magnitude of the finite elements; 0 of none and of types that do not float.
double LargestMagnitude(const Tensor& tensor);

// Says how large an error may be: `factor` times that of the recorded result, and at least `floor`
// of the result's own scale even where that was exact; `ceiling` is the most that a recorded result
// may be off.
struct Tolerance {
  double floor = 0;
  double ceiling = 0;
  double factor = 0;  // times the recorded result's own error against f64
};
Tolerance ToleranceOf(std::string_view kernel, DType dtype);

// Returns the distance between 1 and the next number: 2^-23, 2^-52, 2^-7.
double EpsilonOf(DType dtype);

}  // namespace frugal

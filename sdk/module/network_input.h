#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/autograd/variable.h"

namespace frugal {

// Names what a network that takes several inputs makes of one of them.
enum class InputRole : std::uint8_t {
  kSample,   // what is noised and predicted: images, latents, frames; in the type of activations
  kTime,     // [N], where the sample is between data and noise; in the parameters' type
  kLabel,    // [N] kI64, class numbers
  kValues,   // conditioning: text features, hints; in the type of activations
  kTokens,   // [N, T] kI64, token numbers
  kNumbers,  // conditioning that is embedded by sines, or weighs: [N, ...] in the parameters' type
};

struct NetworkInput {
  std::string name;  // "context"
  InputRole role = InputRole::kValues;
  // Holds the shape of one sample, channels last. Extents along `free_axes` may differ from these,
  // which are what plans assume where no data say otherwise.
  Shape shape{};
  std::vector<std::size_t> free_axes{};
  std::int64_t classes = 0;  // kLabel: labels are in [0, classes); the last may mean none
  double time_range = 1000;  // kTime: times are in [0, time_range)
  // kSample: free extents are multiples of these, of as many axes as the shape; empty: of 1.
  std::vector<std::int64_t> multiples{};
};
using NetworkInputs = std::vector<NetworkInput>;

// The element type of an input, where activations have type `activations`.
DType TypeOf(const NetworkInput& input, DType activations);

// [N, shape...]
Shape BatchShape(const NetworkInput& input, std::int64_t batch);

// Throws ShapeError naming the input that is missing or does not fit, what it was and what the
// network takes.
void CheckInputs(const std::string& where, const NetworkInputs& inputs, const VarTuple& vars);

}  // namespace frugal

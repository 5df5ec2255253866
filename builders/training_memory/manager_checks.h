#pragma once

#include <string>

#include "presets/training_memory_config.h"
#include "sdk/backend/backend.h"
#include "sdk/module/parameter_store.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Refuses what a TrainingMemoryManager was given, each in one sentence.

// Throws ConfigError for contradictions, and for fields that only a planned training can honour.
void CheckManagerConfig(const TrainingMemoryConfig& config);
// Throws ConfigError where activations cannot have that type.
void CheckManagerType(const Backend& backend, DType dtype);
// Throws UsageError for an empty tensor, and for types that no layer takes beside `dtype`.
void CheckManagerInput(const std::string& where, const Tensor& input, DType dtype);
// Throws ShapeError for extents below 0.
void CheckExtents(const std::string& where, const Shape& shape);
// Throws ShapeError or UsageError where it cannot be an output's gradient.
void CheckOutputGradient(const Tensor& gradient, const Shape& output, DType dtype);

// First values from a file that must have each of them in its shape (WeightFileError).
ValueSource StrictSource(const std::string& path, WeightsFormat format);

}  // namespace frugal

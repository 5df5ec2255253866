#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "presets/training_memory_config.h"
#include "sdk/io/weights/weight_source.h"
#include "sdk/module/parameter_store.h"
#include "sdk/train/divergence.h"

namespace frugal {

// Opens a weight file and holds it against the model's parameters: missing, unexpected and
// mis-shaped tensors are listed in one WeightFileError. With `allow_missing`, what is missing or
// has another shape is left to its initializer and what is unexpected is passed over. Weights are
// F64, F32, F16 or BF16: whole numbers under a parameter's name are refused in any case, since they
// are codes of a quantized model or something else that is not its value.
std::shared_ptr<const WeightSource> OpenModelWeights(const std::string& path, WeightsFormat format,
                                                     std::span<Parameter* const> parameters,
                                                     bool allow_missing);

// Fills values from an opened file, as ReadInto does.
ValueSource SourceFrom(std::shared_ptr<const WeightSource> file, DivergencePolicy on_divergence);

// Returns a parameter's value, whichever device has it.
using ValueLookup = std::function<Tensor(const Parameter&)>;

// The path of the first parameter or buffer with a value that is not finite, among those that have
// values; nothing where all are finite.
std::optional<std::string> FirstNonFinite(std::span<Parameter* const> parameters,
                                          ParameterStore& store);

// Copies one tensor of the file into `value`; false where the file has none of this shape. Values
// that are not finite throw a WeightFileError, or with kWarn give a warning.
bool ReadInto(const WeightSource& file, const Parameter& parameter, const Tensor& value,
              DivergencePolicy on_divergence);

// The tensors of the file that WriteWeights makes.
std::vector<StoredTensor> StoredTensorsOf(std::span<Parameter* const> parameters, DType dtype);

// Writes all values and buffers, finite or not, under their paths, in the form that the file's name
// tells (FormatToWrite), with the metadata beside them.
void WriteWeights(const std::string& path, std::span<Parameter* const> parameters, DType dtype,
                  const WeightMetadata& metadata, const ValueLookup& values);

// XXH3-64 over all values and buffers in the order of the parameters, as 16 hexadecimal digits.
std::string HashWeights(std::span<Parameter* const> parameters, const ValueLookup& values);

}  // namespace frugal

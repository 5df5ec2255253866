#include "builders/training_memory/manager_checks.h"

#include <algorithm>

#include "builders/execute/weights.h"
#include "presets/memory_rules.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

std::string Quoted(DType dtype) { return std::string(NameOf(dtype)); }

[[noreturn]] void RefuseField(const std::string& field, const std::string& given) {
  throw ConfigError(
      {.where = "TrainingMemoryManager",
       .required = field + " is for trainings that are planned as a whole",
       .given = given,
       .advice = "leave it out, or build the model with AiModelBuilder, which plans the training"});
}

}  // namespace

void CheckManagerConfig(const TrainingMemoryConfig& config) {
  CheckMemory(config);
  if (config.memory_budget_mb) RefuseField("memory_budget_mb", "one was given");
  if (config.memory_page_file) RefuseField("memory_page_file", "one was given");
  if (config.optimizer_in_backward) RefuseField("optimizer_in_backward", "it is on");
}

void CheckManagerType(const Backend& backend, DType dtype) {
  const bool floating = dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
  if (floating && backend.Supports(dtype)) return;
  throw ConfigError({.where = "TrainingMemoryManager",
                     .required =
                         "activations are of a type that the backend computes in: f32, f64, "
                         "or bf16 on onednn",
                     .given = Quoted(dtype) + " on " + std::string(backend.name()),
                     .advice = "use f32"});
}

void CheckManagerInput(const std::string& where, const Tensor& input, DType dtype) {
  if (!input) {
    throw UsageError({.where = where,
                      .required = "the input is a tensor",
                      .given = "an empty one was given",
                      .advice = "take one by RentTensor and fill it"});
  }
  if (input.dtype() == DType::kI64 || input.dtype() == dtype ||
      input.dtype() == MasterType(dtype)) {
    return;
  }
  throw UsageError(
      {.where = where,
       .required = "the input is token numbers (i64) or values in the manager's " + Quoted(dtype),
       .given = "its elements are " + Quoted(input.dtype()),
       .advice = "convert it, or make the manager with that dtype"});
}

void CheckExtents(const std::string& where, const Shape& shape) {
  if (std::ranges::all_of(shape.extents(), [](std::int64_t extent) { return extent >= 0; })) {
    return;
  }
  throw ShapeError({.where = where,
                    .required = "no extent is negative",
                    .given = ToString(shape),
                    .advice = "give the number of elements along each axis"});
}

void CheckOutputGradient(const Tensor& gradient, const Shape& output, DType dtype) {
  const std::string where = "BackwardWithCheckpointing";
  if (!gradient || !(gradient.shape() == output)) {
    throw ShapeError(
        {.where = where,
         .required = "the output's gradient has the output's shape " + ToString(output),
         .given = gradient ? ToString(gradient.shape()) : "an empty tensor",
         .advice = "give the derivative of the loss by each element of the output"});
  }
  if (gradient.dtype() == dtype || gradient.dtype() == MasterType(dtype)) return;
  throw UsageError({.where = where,
                    .required = "the output's gradient has the output's elements, " + Quoted(dtype),
                    .given = "they are " + Quoted(gradient.dtype()),
                    .advice = "convert it"});
}

ValueSource StrictSource(const std::string& path, WeightsFormat format) {
  auto file = OpenModelWeights(path, format, {}, true);
  return [file = std::move(file), path](const Parameter& parameter, const Tensor& value) {
    if (ReadInto(*file, parameter, value, DivergencePolicy::kStop)) return true;
    throw WeightFileError(
        {.where = path,
         .required = "the file has " + parameter.path + " " + ToString(parameter.shape),
         .given = "it has none of this name and shape",
         .advice = "give the layers the paths that they have in the file, by AssignPaths and "
                   "NumberParameters on a Sequential of them"});
  };
}

}  // namespace frugal

// This file holds what a model's predictions refuse.
#include "builders/run/model.h"
#include "sdk/core/error.h"

namespace frugal {

void Model::CheckPredict(const std::string& where, std::size_t values, std::int64_t count,
                         bool tokens) const {
  if (inputs().size() > 1) {
    throw UsageError({.where = where,
                      .required = "the network takes one input",
                      .given = "it takes " + std::to_string(inputs().size()),
                      .advice = "call PredictInputs"});
  }
  const bool wants_tokens = layout().vocabulary > 0;
  if (tokens != wants_tokens) {
    throw UsageError({.where = where,
                      .required = std::string("the model's inputs are ") +
                                  (wants_tokens ? "token numbers" : "values"),
                      .given = tokens ? "token numbers were given" : "values were given",
                      .advice = wants_tokens ? "call PredictTokens" : "call Predict"});
  }
  const Shape& sample = layout().sample_shape;
  if (count >= 1 && count <= static_cast<std::int64_t>(values) &&
      count * sample.ElementCount() == static_cast<std::int64_t>(values)) {
    return;
  }
  throw UsageError(
      {.where = where,
       .required = "inputs hold count x " + ToString(sample) + (tokens ? " tokens" : " values"),
       .given = std::to_string(values) + (tokens ? " tokens" : " values") +
                " and count = " + std::to_string(count),
       .advice = tokens ? "give whole samples" : "give whole samples, channels last"});
}

void Model::CheckPredictInputs(std::span<const InputValues> given, std::int64_t count) const {
  const auto refuse = [](std::string required, std::string was) {
    throw UsageError({.where = "Model::PredictInputs",
                      .required = std::move(required),
                      .given = std::move(was),
                      .advice = "see Model::inputs()"});
  };
  if (given.size() != inputs().size() || count < 1) {
    refuse("the network takes " + std::to_string(inputs().size()) + " inputs of at least 1 sample",
           std::to_string(given.size()) + " of " + std::to_string(count) + " were given");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const NetworkInput& input = inputs()[i];
    const bool integers = TypeOf(input, DType::kF32) == DType::kI64;
    const auto size = static_cast<std::int64_t>(
        std::visit([](const auto& values) { return values.size(); }, given[i]));
    if ((given[i].index() == 1) != integers || size != BatchShape(input, count).ElementCount()) {
      refuse("input '" + input.name + "' holds " + ToString(BatchShape(input, count)) +
                 (integers ? " integers" : " values"),
             std::to_string(size) + (given[i].index() == 1 ? " integers" : " values"));
    }
    if (!integers) continue;
    for (const std::int64_t label : std::get<1>(given[i])) {
      if (label >= 0 && label < input.classes) continue;
      refuse("input '" + input.name + "' is in [0, " + std::to_string(input.classes) + ")",
             std::to_string(label) + " was given");
    }
  }
}

}  // namespace frugal

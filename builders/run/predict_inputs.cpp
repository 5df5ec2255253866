// This file holds what a model's predictions refuse.
#include "builders/run/given_values.h"
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

void Model::CheckTokens(const std::string& where, std::span<const std::int64_t> tokens) const {
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < layout().vocabulary) continue;
    throw UsageError({.where = where,
                      .required = "tokens lie in [0, " + std::to_string(layout().vocabulary) + ")",
                      .given = "token " + std::to_string(token) + " was given",
                      .advice = "give numbers of the vocabulary"});
  }
}

void Model::CheckPredictInputs(const std::string& where, std::span<const InputValues> given,
                               std::int64_t count) const {
  CheckGivenInputs(where, inputs(), given, count, "see Model::inputs()");
}

}  // namespace frugal

// This file holds what makes models for inference.
#include <algorithm>
#include <cstring>

#include "builders/config/text/weights_description.h"
#include "builders/execute/executor.h"
#include "builders/plan/planner.h"
#include "builders/run/model.h"
#include "builders/run/predict_chunks.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal {
namespace {

void CheckBatch(std::int64_t batch) {
  if (batch >= 0) return;
  throw UsageError({.where = "InferenceOptions",
                    .required = "batch is at least 1, or 0 for training.evaluation_batch_size",
                    .given = std::to_string(batch),
                    .advice = "say how many samples go through at a time"});
}

std::int64_t BatchOr(std::int64_t batch, const RunConfig& config) {
  CheckBatch(batch);
  return batch > 0 ? batch : config.training.evaluation_batch_size;
}

void CheckLoss(const WeightsDescription& description, const std::string& path) {
  if (!description.own_loss) return;
  throw UsageError({.where = path,
                    .required = "a loss to evaluate with",
                    .given = "the network was trained with a loss that is a function of a program",
                    .advice = "evaluate in that program, or predict"});
}

void CopyValue(const Parameter& from, const Tensor& value, const Parameter& to,
               const Tensor& place) {
  if (from.path == to.path && from.shape == to.shape && value.dtype() == place.dtype()) {
    std::memcpy(place.raw(), value.raw(), static_cast<std::size_t>(place.bytes()));
    return;
  }
  throw UsageError({.where = "Model::ForInference",
                    .required = "the network is the one that the configuration builds",
                    .given = "it is another, at '" + from.path + "'",
                    .advice = "save its weights, and load them into a model that is made as this "
                              "one was"});
}

}  // namespace

Model Model::FromFile(const std::string& path, const InferenceOptions& options) {
  CheckBatch(options.batch);
  const auto file = OpenWeights(path);
  const WeightsDescription description =
      ReadWeightsDescription(*file, options.overrides, options.evaluates);
  if (options.evaluates) CheckLoss(description, path);
  RunConfig config = frugal::ForInference(description.config);
  if (!options.evaluates) config.training.metrics.clear();
  config.memory.default_initialization_strategy = InitializationStrategy::kFromFile;
  config.memory.weights_file_path = path;
  PlannedTraining planned =
      PlanInference(config, description.layout,
                    {.batch = BatchOr(options.batch, config), .evaluates = options.evaluates});
  planned.metadata = file->Metadata();
  return Model(std::move(planned));
}

Model Model::ForInference(std::int64_t batch) const {
  return CopyForInference("Model::ForInference", batch, config().training.threads);
}

Model Model::CopyForInference(const char* where, std::int64_t batch_or_zero,
                              std::int64_t threads) const {
  const OneThreadGuard::Scope use(*use_, where);
  const frugal::EmaScope average(*executor_);
  const std::int64_t batch = BatchOr(batch_or_zero, planned_->config);
  RunConfig config = frugal::ForInference(planned_->config);
  config.training.metrics.clear();
  config.training.threads = threads;
  PlannedTraining planned = PlanInference(config, planned_->layout, {.batch = batch});
  planned.metadata = planned_->metadata;
  Model copy(std::move(planned));
  const std::vector<Parameter*>& from = parameters();
  const std::vector<Parameter*>& to = copy.parameters();
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    CopyValue(*from[i], executor_->ValueOf(*from[i]), *to[i], copy.executor_->ValueOf(*to[i]));
  }
  return copy;
}

std::vector<std::string> Model::class_names() const { return ClassNamesIn(planned_->metadata); }

void Model::RequireTraining(const char* where) const {
  if (planned_->trains()) return;
  throw UsageError({.where = where,
                    .required = "a model that was made to train",
                    .given = "this one was made for inference, without gradients",
                    .advice = "build one by AiModelBuilder, and give it the weights by "
                              "LoadWeights"});
}

PredictedValues Model::PredictParts(std::span<const InputValues> inputs, std::int64_t count) {
  return PredictInChunks(*planned_, inputs, count,
                         [&](std::span<const InputValues> part, std::int64_t samples) {
                           return executor_->Predict(part, samples);
                         });
}

}  // namespace frugal

#include "builders/snapshot/training_progress.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sdk/io/json_integer.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no numbers that are not finite.
Json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double NumberIn(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = json.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::invalid_argument("\"" + text + "\" is no number");
}

Json Optional(const std::optional<double>& value) { return value ? Number(*value) : Json(); }

std::optional<double> OptionalIn(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(NumberIn(json));
}

Json Text(const EpochResult& epoch) {
  return {{"epoch", epoch.epoch},
          {"mean_loss", Number(epoch.mean_loss)},
          {"seconds", Number(epoch.seconds)},
          {"test_loss", Optional(epoch.test_loss)},
          {"test_accuracy", Optional(epoch.test_accuracy)},
          {"is_validation", epoch.is_validation}};
}

EpochResult EpochIn(const Json& json) {
  return {.epoch = JsonInteger(json.at("epoch")),
          .mean_loss = NumberIn(json.at("mean_loss")),
          .seconds = NumberIn(json.at("seconds")),
          .test_loss = OptionalIn(json.at("test_loss")),
          .test_accuracy = OptionalIn(json.at("test_accuracy")),
          .is_validation = json.at("is_validation").get<bool>()};
}

Json Text(const Evaluation& evaluation) {
  Json json = {{"step", evaluation.step},
               {"part", NameOf(evaluation.part)},
               {"samples", evaluation.result.samples},
               {"loss", Number(evaluation.result.loss)},
               {"accuracy", Optional(evaluation.result.accuracy)},
               {"metrics", Json::array()}};
  for (const MetricValue& metric : evaluation.result.metrics) {
    json["metrics"].push_back(
        {{"name", metric.name}, {"value", Number(metric.value)}, {"matrix", metric.matrix}});
  }
  return json;
}

DatasetPart PartIn(const std::string& name) {
  for (const DatasetPart part :
       {DatasetPart::kTrain, DatasetPart::kTest, DatasetPart::kValidation}) {
    if (NameOf(part) == name) return part;
  }
  throw std::invalid_argument("there is no part \"" + name + "\" of data");
}

std::vector<std::vector<std::int64_t>> MatrixIn(const Json& json) {
  std::vector<std::vector<std::int64_t>> matrix;
  for (const Json& row : json) {
    matrix.push_back(JsonIntegers(row));
  }
  return matrix;
}

Evaluation EvaluationIn(const Json& json) {
  Evaluation evaluation{.step = JsonInteger(json.at("step")),
                        .result = {.samples = JsonInteger(json.at("samples")),
                                   .loss = NumberIn(json.at("loss")),
                                   .accuracy = OptionalIn(json.at("accuracy"))},
                        .part = PartIn(json.at("part").get<std::string>())};
  for (const Json& metric : json.at("metrics")) {
    evaluation.result.metrics.push_back({.name = metric.at("name").get<std::string>(),
                                         .value = NumberIn(metric.at("value")),
                                         .matrix = MatrixIn(metric.at("matrix"))});
  }
  return evaluation;
}

}  // namespace

std::string ProgressText(const TrainingProgress& progress) {
  const TrainingResult& result = progress.result;
  Json json = {{"steps", result.steps},
               {"epoch", progress.epoch},
               {"steps_in_epoch", progress.steps_in_epoch},
               {"epochs_before", progress.epochs_before},
               {"rate_scale", Number(progress.rate_scale)},
               {"worse", progress.worse},
               {"since_best", progress.since_best},
               {"diverged", progress.diverged},
               {"stopped_early", result.stopped_early},
               {"samples_seen", progress.samples_seen},
               {"seconds", Number(progress.seconds)},
               {"step_seconds", Number(progress.step_seconds)},
               {"epoch_seconds", Number(progress.epoch_seconds)}};
  if (result.best) {
    json["best"] = {{"step", result.best->step},
                    {"by", result.best->by},
                    {"value", Number(result.best->value)}};
  }
  json["epochs"] = Json::array();
  for (const EpochResult& epoch : result.epochs) json["epochs"].push_back(Text(epoch));
  json["evaluations"] = Json::array();
  for (const Evaluation& one : result.evaluations) json["evaluations"].push_back(Text(one));
  return json.dump(2);
}

TrainingProgress ReadProgress(const std::string& text) {
  const Json json = Json::parse(text);
  TrainingProgress progress;
  TrainingResult& result = progress.result;
  result.steps = JsonInteger(json.at("steps"));
  progress.epoch = JsonInteger(json.at("epoch"));
  progress.steps_in_epoch = JsonInteger(json.at("steps_in_epoch"));
  progress.epochs_before = JsonInteger(json.at("epochs_before"));
  progress.rate_scale = NumberIn(json.at("rate_scale"));
  progress.worse = JsonInteger(json.at("worse"));
  progress.since_best = JsonInteger(json.at("since_best"));
  progress.diverged = json.at("diverged").get<bool>();
  result.stopped_early = json.at("stopped_early").get<bool>();
  progress.samples_seen = JsonInteger(json.at("samples_seen"));
  progress.seconds = NumberIn(json.at("seconds"));
  progress.step_seconds = NumberIn(json.at("step_seconds"));
  progress.epoch_seconds = NumberIn(json.at("epoch_seconds"));
  if (json.contains("best")) {
    const Json& best = json.at("best");
    result.best = {.step = JsonInteger(best.at("step")),
                   .by = best.at("by").get<std::string>(),
                   .value = NumberIn(best.at("value"))};
  }
  for (const Json& epoch : json.at("epochs")) result.epochs.push_back(EpochIn(epoch));
  for (const Json& one : json.at("evaluations")) result.evaluations.push_back(EvaluationIn(one));
  if (progress.epoch < 1 || progress.steps_in_epoch < 0 || result.steps < progress.steps_in_epoch) {
    throw std::invalid_argument("its numbers of steps and epochs do not go together");
  }
  return progress;
}

}  // namespace frugal

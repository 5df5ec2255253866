#include "builders/report/training_log.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "presets/config/value.h"
#include "sdk/io/atomic_file.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// The shortest text that reads back as the same number; nothing for one that is not finite.
std::string Cell(double value) { return std::isfinite(value) ? Json(value).dump() : ""; }

std::string TableHeader(const std::vector<std::string>& metrics) {
  std::string header =
      "event,step,epoch,loss,accuracy,learning_rate,gradient_norm,samples_per_second,live_bytes";
  for (const std::string& name : metrics) header += "," + name;
  return header;
}

// The step of a row or an object; nothing for a header, or a line that was cut short.
std::optional<std::int64_t> StepOf(const std::string& line) {
  if (line.starts_with('{')) {
    const Json json = Json::parse(line, nullptr, false);
    const bool has_step = json.contains("step") && json["step"].is_number_integer();
    return has_step ? std::optional(json["step"].get<std::int64_t>()) : std::nullopt;
  }
  const std::size_t comma = line.find(',');
  std::int64_t step = 0;
  const char* begin = line.data() + std::min(comma + 1, line.size());
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), step);
  return error == std::errc() && comma != std::string::npos ? std::optional(step) : std::nullopt;
}

bool IsOfStep(const std::string& line) {
  return line.starts_with("step,") || line.starts_with(R"({"event":"step")");
}

// Leaves of a log what is of the first steps, and says whether there is one to go on with.
bool Keep(const std::string& path, LoggedSteps before) {
  std::ifstream file(path);
  if (before.steps == 0 || !file) return false;
  std::string kept, line;
  for (bool is_first = true; std::getline(file, line); is_first = false) {
    const std::optional<std::int64_t> step = StepOf(line);
    bool keeps = step ? *step <= before.steps : is_first && line.starts_with("event,");
    if (step == before.steps && !IsOfStep(line)) keeps = before.evaluations-- > 0;
    if (keeps) kept += line + "\n";
  }
  AtomicFile shorter(path);
  shorter.Append(kept);
  shorter.Commit();
  return true;
}

}  // namespace

TrainingLog::TrainingLog(const std::string& path, std::vector<std::string> metrics,
                         const LoggedSteps& before)
    : metrics_(std::move(metrics)),
      is_table_(path.ends_with(".csv")),
      file_(path, Keep(path, before) ? OpenMode::kContinue : OpenMode::kEmpty,
            {.required = "the log of a training can be written",
             .advice = "name another file for output.log"}) {
  if (is_table_ && file_.size() == 0) Write(TableHeader(metrics_));
}

void TrainingLog::OnStep(const StepProgress& progress) {
  if (!is_table_) {
    return Write(Json{{"event", "step"},
                      {"step", progress.step},
                      {"epoch", progress.epoch},
                      {"loss", NumberOrNull(progress.loss)},
                      {"learning_rate", progress.learning_rate},
                      {"gradient_norm", NumberOrNull(progress.gradient_norm)},
                      {"samples_per_second", NumberOrNull(progress.samples_per_second)},
                      {"live_bytes", progress.live_bytes}}
                     .dump());
  }
  Write("step," + std::to_string(progress.step) + "," + std::to_string(progress.epoch) + "," +
        Cell(progress.loss) + ",," + Cell(progress.learning_rate) + "," +
        Cell(progress.gradient_norm) + "," + Cell(progress.samples_per_second) + "," +
        std::to_string(progress.live_bytes) + std::string(metrics_.size(), ','));
}

void TrainingLog::OnEvaluation(const Evaluation& evaluation) {
  const EvaluationResult& result = evaluation.result;
  if (is_table_) {
    const bool validates = evaluation.part == DatasetPart::kValidation;
    std::string line = (validates ? "validation," : "evaluation,") +
                       std::to_string(evaluation.step) + ",," + Cell(result.loss) + "," +
                       (result.accuracy ? Cell(*result.accuracy) : "") + ",,,,";
    for (const MetricValue& metric : result.metrics) line += "," + Cell(metric.value);
    Write(line);
    return file_.Sync();
  }
  Json json = {{"event", "evaluation"},
               {"part", NameOf(evaluation.part)},
               {"step", evaluation.step},
               {"loss", NumberOrNull(result.loss)}};
  if (result.accuracy) json["accuracy"] = *result.accuracy;
  for (const MetricValue& metric : result.metrics) json[metric.name] = NumberOrNull(metric.value);
  Write(json.dump());
  file_.Sync();
}

void Observers::OnStep(const StepProgress& progress) {
  for (TrainingObserver* one : all_) one->OnStep(progress);
}

void Observers::OnEpoch(const EpochResult& epoch) {
  for (TrainingObserver* one : all_) one->OnEpoch(epoch);
}

void Observers::OnEvaluation(const Evaluation& evaluation) {
  for (TrainingObserver* one : all_) one->OnEvaluation(evaluation);
}

void Observers::Steer(TrainingControl& control) {
  for (TrainingObserver* one : all_) one->Steer(control);
}

}  // namespace frugal

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "builders/cli/commands.h"
#include "builders/cli/inference_text.h"
#include "builders/cli/number_option.h"
#include "builders/report/text/text_table.h"
#include "builders/run/model.h"
#include "presets/config/value.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal::cli {
namespace {

const NumberRange<std::int64_t> kBatches = {1, 1'000'000, "a whole number from 1 to 1,000,000"};

struct EvaluateArguments {
  std::string weights;
  std::vector<std::string> overrides;
  std::vector<std::string> metrics;
  std::int64_t batch = 0;
  bool json = false;

  // Values on top of the file; what --metric and --batch say stands on top of all else.
  std::vector<std::string> Overrides() const {
    std::vector<std::string> all = overrides;
    if (batch > 0) all.push_back("training.evaluation_batch_size=" + std::to_string(batch));
    if (metrics.empty()) return all;
    std::vector<std::string> quoted;
    for (const std::string& metric : metrics) quoted.push_back(QuoteToml(metric));
    all.push_back("training.metrics=[" + JoinWithCommas(quoted) + "]");
    return all;
  }
};

// Rows are labels, columns what was predicted.
std::string MatrixText(const MetricValue& metric) {
  TextTable table;
  if (metric.matrix.empty()) return "";
  table.columns.assign(metric.matrix.size(), {"", true});
  for (const std::vector<std::int64_t>& counts : metric.matrix) {
    std::vector<std::string> row;
    for (const std::int64_t count : counts) row.push_back(FormatCount(count));
    table.rows.push_back(std::move(row));
  }
  return metric.name + ", a row for each label\n" + ToText(table);
}

std::string TextOf(const EvaluationResult& result) {
  TextTable table;
  table.columns = {{""}, {"", true}};
  table.rows.push_back({"samples", FormatCount(result.samples)});
  table.rows.push_back({"loss", FixedText(result.loss, 4)});
  if (result.accuracy) table.rows.push_back({"accuracy", PercentText(*result.accuracy)});
  for (const MetricValue& metric : result.metrics) {
    table.rows.push_back({metric.name, FixedText(metric.value, 4)});
  }
  std::string text = ToText(table);
  for (const MetricValue& metric : result.metrics) text += MatrixText(metric);
  return text;
}

std::string JsonOf(const EvaluationResult& result, const Model& model,
                   const MemoryMeasurement& measured) {
  nlohmann::ordered_json json;
  json["samples"] = result.samples;
  json["loss"] = result.loss;
  if (result.accuracy) json["accuracy"] = *result.accuracy;
  for (const MetricValue& metric : result.metrics) {
    json["metrics"][metric.name] = metric.value;
    if (!metric.matrix.empty()) json["matrices"][metric.name] = metric.matrix;
  }
  json["planned_peak_bytes"] = model.plan().peak_bytes;
  json["measured_peak_bytes"] = measured.peak_bytes;
  return json.dump(2);
}

void Evaluate(const EvaluateArguments& arguments) {
  const std::vector<std::string> overrides = arguments.Overrides();
  // Nothing but evaluations is planned for: a prediction of one sample takes less than these.
  Model model =
      Model::FromFile(arguments.weights, {.batch = 1, .evaluates = true, .overrides = overrides});
  const auto begin = std::chrono::steady_clock::now();
  const EvaluationResult result = model.Evaluate();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (arguments.json) {
    std::cout << JsonOf(result, model, model.Measured()) << std::endl;
    return;
  }
  std::cout << TextOf(result) << InferenceText(model, result.samples, seconds.count()) << std::endl;
}

}  // namespace

void AddEvaluateCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "evaluate", "Evaluate trained weights, on the test part of their data or on other data");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command.add_option("WEIGHTS", arguments->weights, "Weight file of a training")
      ->type_name(" ")
      ->required();
  command
      .add_option("--metric", arguments->metrics,
                  "Measure this beside loss and accuracy, in place of training.metrics; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  AddNumber(command, "--batch", arguments->batch, kBatches, "N",
            "Samples of an evaluation step (training.evaluation_batch_size)");
  command.add_flag("--json", arguments->json, "Print JSON");
  AddOverrides(command, arguments->overrides, "data.test_limit=1000");
  command.callback([arguments, &action] { action = [arguments] { Evaluate(*arguments); }; });
}

}  // namespace frugal::cli

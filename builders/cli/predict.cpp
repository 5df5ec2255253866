#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "builders/cli/commands.h"
#include "builders/cli/inference_text.h"
#include "builders/cli/number_option.h"
#include "builders/config/text/weights_description.h"
#include "builders/inference/prediction_samples.h"
#include "builders/inference/predictions.h"
#include "builders/report/text/text_table.h"
#include "builders/run/model.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal::cli {
namespace {

const NumberRange<std::int64_t> kBatches = {1, 1'000'000, "a whole number from 1 to 1,000,000"};
const NumberRange<std::int64_t> kTops = {1, 1000, "a whole number from 1 to 1,000"};
constexpr std::int64_t kMostShown = 20;  // samples
constexpr std::int64_t kMostValues = 8;  // of each

struct PredictArguments {
  std::string weights;
  std::vector<std::string> inputs;
  std::vector<std::string> overrides;
  std::optional<std::string> out;
  std::int64_t batch = 0;
  std::int64_t top = 1;
};

// The model with all inputs of networks that the command can feed.
PredictionSamples ReadInputs(const PredictArguments& arguments,
                             const WeightsDescription& description) {
  const DataOptions& data = description.config.data;
  const bool others = description.config.diffusion.kind != DiffusionKind::kNone ||
                      !description.layout.conditions.empty();
  if (others) {
    throw UsageError({.where = arguments.weights,
                      .required = "a network of one input",
                      .given = "it takes others beside it",
                      .advice = "call Model::PredictInputs in a program"});
  }
  return ReadSamples(arguments.inputs, description.layout, {{data.mean}, {data.std}});
}

std::vector<std::string> ClassCells(const Predictions& predictions, std::int64_t sample,
                                    std::int64_t top) {
  const std::span<const float> shares = predictions.ProbabilitiesOf(sample);
  std::string text;
  for (const std::int64_t index : LargestOf(shares, top)) {
    text += (text.empty() ? "" : ", ") + Printable(predictions.NameOf(index)) + " " +
            PercentText(shares[static_cast<std::size_t>(index)]);
  }
  return {Printable(predictions.samples[static_cast<std::size_t>(sample)]), text};
}

std::vector<std::string> ValueCells(const Predictions& predictions, std::int64_t sample) {
  const bool values = predictions.kind == OutputKind::kValues;
  const std::span<const float> numbers =
      values ? predictions.OutputsOf(sample) : predictions.ProbabilitiesOf(sample);
  std::string text;
  for (std::int64_t i = 0; i < std::min(kMostValues, std::ssize(numbers)); ++i) {
    const float number = numbers[static_cast<std::size_t>(i)];
    text += (text.empty() ? "" : ", ") + (values ? CompactText(number, 6) : PercentText(number));
  }
  if (std::ssize(numbers) > kMostValues) {
    text += ", ... (" + std::to_string(numbers.size()) + ")";
  }
  return {Printable(predictions.samples[static_cast<std::size_t>(sample)]), text};
}

std::string TableOf(const Predictions& predictions, std::int64_t top) {
  const bool named =
      predictions.kind == OutputKind::kClasses || predictions.kind == OutputKind::kTokens;
  TextTable table;
  table.columns = {{"input"},
                   {predictions.kind == OutputKind::kTokens    ? "next"
                    : named                                    ? "class"
                    : predictions.kind == OutputKind::kYesOrNo ? "probabilities"
                                                               : "values"}};
  for (std::int64_t i = 0; i < std::min(kMostShown, predictions.count()); ++i) {
    table.rows.push_back(named ? ClassCells(predictions, i, top) : ValueCells(predictions, i));
  }
  std::string text = ToText(table);
  const std::int64_t more = predictions.count() - kMostShown;
  if (more > 0) text += "  and " + std::to_string(more) + " more; --out FILE.csv has all\n";
  return text;
}

std::vector<float> Run(Model& model, const PredictionSamples& samples) {
  if (model.layout().vocabulary > 0) return model.PredictTokens(samples.tokens, samples.count);
  return model.Predict(samples.values, samples.count);
}

void Predict(const PredictArguments& arguments) {
  if (arguments.out) CheckPredictionsPath(*arguments.out);
  const WeightsDescription description =
      ReadWeightsDescription(*OpenWeights(arguments.weights), arguments.overrides);
  PredictionSamples samples = ReadInputs(arguments, description);
  const std::int64_t planned =
      arguments.batch > 0 ? arguments.batch : description.config.training.evaluation_batch_size;
  const std::int64_t batch = std::min(planned, samples.count);
  Model model =
      Model::FromFile(arguments.weights, {.batch = batch, .overrides = arguments.overrides});
  const auto begin = std::chrono::steady_clock::now();
  std::vector<float> outputs = Run(model, samples);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const Predictions predictions =
      MakePredictions(model.planned(), std::move(outputs), std::move(samples.names));
  std::cout << TableOf(predictions, arguments.top);
  if (arguments.out) {
    WritePredictions(*arguments.out, predictions);
    std::cout << "wrote " << *arguments.out << "\n";
  }
  std::cout << InferenceText(model, predictions.count(), seconds.count()) << std::endl;
}

}  // namespace

void AddPredictCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("predict", "Predict by trained weights, which describe their network");
  const auto arguments = std::make_shared<PredictArguments>();
  command.add_option("WEIGHTS", arguments->weights, "Weight file of a training")
      ->type_name(" ")
      ->required();
  command
      .add_option("INPUT", arguments->inputs,
                  "Images as PNG or IDX, .npy arrays, .raw values, or texts, as the network takes "
                  "them; several")
      ->type_name(" ")
      ->required();
  command
      .add_option("--out", arguments->out,
                  "Write all predictions here: .csv, .json, or .npy of the network's outputs")
      ->type_name("FILE");
  AddNumber(command, "--batch", arguments->batch, kBatches, "N",
            "Samples that go through at a time (training.evaluation_batch_size)");
  AddNumber(command, "--top", arguments->top, kTops, "K", "Show the K likeliest classes (1)");
  AddOverrides(command, arguments->overrides, "training.threads=1");
  command.callback([arguments, &action] { action = [arguments] { Predict(*arguments); }; });
}

}  // namespace frugal::cli

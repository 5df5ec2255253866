#include "builders/inference/predictions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "builders/config/text/weights_description.h"
#include "sdk/core/number_text.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/file_error.h"
#include "sdk/io/npy_file.h"

namespace frugal {
namespace {

constexpr int kDigits = 9;  // which tell a float from every other one

OutputKind KindOf(const PlannedTraining& planned, std::int64_t each) {
  const DataLayout& layout = planned.layout;
  const LossOptions& loss = planned.config.loss;
  if (planned.diffusion != nullptr || each == 0) return OutputKind::kValues;
  if (layout.classes > 0) {
    if (layout.label_shape.rank() == 0 && each == layout.classes) return OutputKind::kClasses;
    const bool positions = layout.label_shape == layout.sample_shape && layout.vocabulary > 0;
    if (positions && each == layout.sample_shape.ElementCount() * layout.classes) {
      return OutputKind::kTokens;
    }
    return OutputKind::kValues;
  }
  const bool yes_or_no = loss.kind == LossKind::kBceWithLogits && !loss.function;
  return yes_or_no ? OutputKind::kYesOrNo : OutputKind::kValues;
}

void AppendSoftmax(std::span<const float> logits, std::vector<float>& probabilities) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  for (const float logit : logits) {
    probabilities.push_back(static_cast<float>(std::exp(logit - largest) / sum));
  }
}

void AppendProbabilities(OutputKind kind, std::int64_t classes, std::span<const float> outputs,
                         std::vector<float>& probabilities) {
  if (kind == OutputKind::kYesOrNo) {
    for (const double logit : outputs) {
      probabilities.push_back(static_cast<float>(1 / (1 + std::exp(-logit))));
    }
  } else if (kind != OutputKind::kValues) {
    AppendSoftmax(outputs.last(static_cast<std::size_t>(classes)), probabilities);
  }
}

// Row `index` of an array of `count` rows.
std::span<const float> Row(const std::vector<float>& all, std::int64_t count, std::int64_t index) {
  const std::size_t each = all.size() / static_cast<std::size_t>(count);
  return std::span(all).subspan(each * static_cast<std::size_t>(index), each);
}

bool NamesClasses(OutputKind kind) {
  return kind == OutputKind::kClasses || kind == OutputKind::kTokens;
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Number(float value) { return CompactText(value, kDigits); }

// The numbers that a line of a sample has beside its class.
std::span<const float> NumbersOf(const Predictions& predictions, std::int64_t sample) {
  return predictions.kind == OutputKind::kValues ? predictions.OutputsOf(sample)
                                                 : predictions.ProbabilitiesOf(sample);
}

void WriteText(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.Append(text);
  file.Commit();
}

}  // namespace

std::span<const float> Predictions::OutputsOf(std::int64_t sample) const {
  return Row(outputs, count(), sample);
}

std::span<const float> Predictions::ProbabilitiesOf(std::int64_t sample) const {
  return Row(probabilities, count(), sample);
}

std::string Predictions::NameOf(std::int64_t index) const {
  if (static_cast<std::size_t>(index) < class_names.size()) {
    return class_names[static_cast<std::size_t>(index)];
  }
  constexpr std::int64_t kFirstLetter = 33, kLastLetter = 126;
  if (kind != OutputKind::kTokens || index > 255) return std::to_string(index);
  if (index >= kFirstLetter && index <= kLastLetter)
    return std::string(1, static_cast<char>(index));
  constexpr std::array<char, 17> kHex = {"0123456789ABCDEF"};
  const auto byte = static_cast<std::size_t>(index);
  return std::string("0x") + kHex[byte / 16] + kHex[byte % 16];
}

Predictions MakePredictions(const PlannedTraining& planned, std::vector<float> outputs,
                            std::vector<std::string> samples) {
  Predictions predictions;
  const auto count = std::ssize(samples);
  const std::int64_t each = std::ssize(outputs) / count;
  predictions.kind = KindOf(planned, each);
  std::vector<std::int64_t> extents = {count, each};
  if (!planned.plan.layers.empty()) {
    const Shape& output = planned.plan.layers.back().output;
    std::vector<std::int64_t> whole(output.extents().begin(), output.extents().end());
    if (!whole.empty()) whole[0] = count;
    if (Shape(whole).ElementCount() == std::ssize(outputs)) extents = whole;
  }
  predictions.shape = Shape(extents);
  predictions.outputs = std::move(outputs);
  predictions.samples = std::move(samples);
  if (predictions.kind == OutputKind::kClasses) {
    predictions.class_names = ClassNamesIn(planned.metadata);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    AppendProbabilities(predictions.kind, planned.layout.classes, predictions.OutputsOf(i),
                        predictions.probabilities);
  }
  return predictions;
}

std::vector<std::int64_t> LargestOf(std::span<const float> probabilities, std::int64_t most) {
  std::vector<std::int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto kept = std::min<std::int64_t>(most, std::ssize(order));
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t index) {
    return probabilities[static_cast<std::size_t>(index)];
  });
  order.resize(static_cast<std::size_t>(kept));
  return order;
}

std::string PredictionsCsv(const Predictions& predictions) {
  const bool named = NamesClasses(predictions.kind);
  std::string text = "input";
  if (named) text += ",class,name,probability";
  const auto columns = predictions.count() == 0 ? 0 : std::ssize(NumbersOf(predictions, 0));
  const std::string title = predictions.kind == OutputKind::kValues ? ",y" : ",p";
  for (std::int64_t i = 0; i < columns; ++i) text += title + std::to_string(i);
  text += "\n";
  for (std::int64_t sample = 0; sample < predictions.count(); ++sample) {
    text += Quoted(predictions.samples[static_cast<std::size_t>(sample)]);
    const std::span<const float> numbers = NumbersOf(predictions, sample);
    if (named) {
      const std::int64_t best = LargestOf(numbers, 1)[0];
      text += "," + std::to_string(best) + "," + Quoted(predictions.NameOf(best)) + "," +
              Number(numbers[static_cast<std::size_t>(best)]);
    }
    for (const float number : numbers) text += "," + Number(number);
    text += "\n";
  }
  return text;
}

std::string PredictionsJson(const Predictions& predictions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::int64_t sample = 0; sample < predictions.count(); ++sample) {
    nlohmann::ordered_json entry;
    entry["input"] = predictions.samples[static_cast<std::size_t>(sample)];
    const std::span<const float> numbers = NumbersOf(predictions, sample);
    if (NamesClasses(predictions.kind)) {
      const std::int64_t best = LargestOf(numbers, 1)[0];
      entry["class"] = best;
      entry["name"] = predictions.NameOf(best);
      entry["probability"] = numbers[static_cast<std::size_t>(best)];
    }
    const bool values = predictions.kind == OutputKind::kValues;
    entry[values ? "values" : "probabilities"] = std::vector<float>(numbers.begin(), numbers.end());
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void CheckPredictionsPath(const std::string& path) {
  const std::string form = std::filesystem::path(path).extension().string();
  if (form == ".csv" || form == ".json" || form == ".npy") return;
  RefuseFile(path, "predictions are written as .csv, .json or .npy",
             form.empty() ? "the name has no extension" : "'" + form + "' is another form",
             "name the file .csv");
}

void WritePredictions(const std::string& path, const Predictions& predictions) {
  CheckPredictionsPath(path);
  const std::string form = std::filesystem::path(path).extension().string();
  if (form == ".npy") return WriteNpy(path, predictions.shape, predictions.outputs);
  WriteText(path, form == ".csv" ? PredictionsCsv(predictions) : PredictionsJson(predictions));
}

}  // namespace frugal

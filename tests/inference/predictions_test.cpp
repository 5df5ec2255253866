// Predictions are told as classes, tokens or values, in the forms of files.
#include "builders/inference/predictions.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sdk/core/error.h"
#include "sdk/io/npy_file.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

Predictions OfClasses() {
  PlannedTraining planned = BuilderFor({.network = "mlp", .memory = {}}).Plan();
  planned.metadata["frugal.class_names"] = R"(["a","b","c, \"d\"","e","f"])";
  return MakePredictions(planned, {0, 1, 3, 1, 0, 2, 2, -1, 0, 0}, {"x.png", "y, z.png"});
}

TEST_CASE("classes have probabilities that sum to one") {
  const Predictions predictions = OfClasses();
  CHECK(predictions.kind == OutputKind::kClasses);
  CHECK(predictions.shape == Shape{2, 5});
  double sum = 0;
  for (const float share : predictions.ProbabilitiesOf(0)) sum += share;
  CHECK(std::abs(sum - 1) < 1e-6);
  const double all = 2 + 2 * std::exp(1) + std::exp(3);
  CHECK(std::abs(predictions.ProbabilitiesOf(0)[2] - std::exp(3) / all) < 1e-6);
  CHECK(LargestOf(predictions.ProbabilitiesOf(0), 3) == std::vector<std::int64_t>{2, 1, 3});
  CHECK(LargestOf(predictions.ProbabilitiesOf(1), 2) == std::vector<std::int64_t>{0, 1});
  CHECK(LargestOf(predictions.ProbabilitiesOf(1), 9).size() == 5);
}

TEST_CASE("predictions are written as CSV, JSON and arrays") {
  const TempDir directory;
  const Predictions predictions = OfClasses();
  const std::string csv = PredictionsCsv(predictions);
  CHECK(
      csv.starts_with("input,class,name,probability,p0,p1,p2,p3,p4\nx.png,2,\"c, \"\"d\"\"\",0."));
  CheckContains(csv, "\n\"y, z.png\",0,a,0.4");
  const auto json = nlohmann::json::parse(PredictionsJson(predictions));
  CHECK(json.size() == 2);
  CHECK(json[0]["class"] == 2);
  CHECK(json[0]["name"] == "c, \"d\"");
  CHECK(json[1]["probabilities"].size() == 5);
  WritePredictions(directory.File("a.npy"), predictions);
  const NpyArray array = ReadNpy(directory.File("a.npy"));
  CHECK(array.shape == predictions.shape);
  CHECK(std::get<2>(array.values) == predictions.outputs);
  WritePredictions(directory.File("a.csv"), predictions);
  CHECK(ReadAll(directory.File("a.csv")) == csv);
  CheckContains(
      MessageOf<FileError>([&] { WritePredictions(directory.File("a.xls"), predictions); }),
      "predictions are written as .csv, .json or .npy; '.xls' is another form");
  CheckContains(MessageOf<FileError>([&] { CheckPredictionsPath("a"); }), "no extension");
}

TEST_CASE("networks over tokens tell what comes next, others values or yes and no") {
  const PlannedTraining text = BuilderFor({.network = "gpt2", .memory = {}}).Plan();
  const std::int64_t vocabulary = text.layout.classes, length = text.layout.sample_shape[0];
  std::vector<float> outputs(static_cast<std::size_t>(length * vocabulary));
  outputs[outputs.size() - static_cast<std::size_t>(vocabulary) + 7] = 5;  // of the last position
  const Predictions next = MakePredictions(text, outputs, {"a.txt"});
  CHECK(next.kind == OutputKind::kTokens);
  CHECK(LargestOf(next.ProbabilitiesOf(0), 1) == std::vector<std::int64_t>{7});
  CHECK(next.NameOf(7) == "0x07");
  CHECK(next.NameOf('A') == "A");

  PlannedTraining values = BuilderFor({.network = "bert", .memory = {}}).Plan();
  const auto each = static_cast<std::size_t>(values.layout.target_shape.ElementCount());
  const Predictions plain = MakePredictions(values, std::vector<float>(each, 0.0F), {"a"});
  CHECK(plain.kind == OutputKind::kValues);
  CHECK(PredictionsCsv(plain).starts_with("input,y0,y1"));
  CHECK(nlohmann::json::parse(PredictionsJson(plain))[0]["values"].size() == each);
  values.config.loss.kind = LossKind::kBceWithLogits;
  const Predictions answers = MakePredictions(values, std::vector<float>(each, 0.0F), {"a"});
  CHECK(answers.kind == OutputKind::kYesOrNo);
  CHECK(answers.ProbabilitiesOf(0)[0] == 0.5F);
  CHECK(PredictionsCsv(answers).starts_with("input,p0,p1"));
}

}  // namespace
}  // namespace frugal::testing

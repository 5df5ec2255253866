// Errors that are found long after a file was read still say where in it they are.
#include "builders/config/error_place.h"

#include "builders/ai_model_builder.h"
#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "tests/builders/plan_refusal.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

const std::string kTextModel = R"([model]
family = "gpt2"
[model.config]
n_embd = 32
n_head = 4
n_layer = 1
n_positions = 16
vocab_size = 256
)";

std::string WithText(const TempDir& directory, const std::string& rest) {
  return "[data]\ntext_file = \"" + directory.Write("text", std::string(4000, 'a')) +
         "\"\nsequence_length = 16\n" + rest;
}

TEST_CASE("sizes of an architecture that do not fit are found where they stand") {
  const TempDir directory;
  const std::string good = WithText(directory, kTextModel);
  CHECK(PlanRefusal(good) == "no error");
  std::string bad = good;
  bad.replace(bad.find("n_head = 4"), 10, "n_head = 5");
  CHECK(PlanRefusal(bad).starts_with("run.toml:8:1: [gpt2.n_head] "));
  CHECK(PlanRefusal(good, {"model.config.n_head=5"})
            .starts_with("--set model.config.n_head=5: [gpt2.n_head] "));
  // By default it is 12: the family is what was said.
  bad.erase(bad.find("n_head = 5"), 11);
  CHECK(PlanRefusal(bad).starts_with("run.toml:5:1: [gpt2.n_head] "));
}

TEST_CASE("a part of an architecture that the data do not fit is found by its section") {
  const TempDir directory;
  std::string text = WithText(directory, kTextModel);
  text.replace(text.find("sequence_length = 16"), 20, "sequence_length = 17");
  const std::string message = PlanRefusal(text);
  CHECK(message.starts_with("run.toml:5:1: [transformer.wpe"));
}

TEST_CASE("layers and losses that do not fit the data are found by their layer") {
  const std::string layers =
      "[[model.layers]]\ntype = \"flatten\"\n[[model.layers]]\ntype = \"dense\"\nunits = 9\n";
  CHECK(PlanRefusal(layers).starts_with("run.toml:3:1: [loss] "));
  const RunConfig config = ReadRunConfigText(layers, "run.toml");
  CHECK(ToString(PlaceOf(config, "1.weight")) == "run.toml:3:1");
  CHECK(ToString(PlaceOf(config, "1")) == "run.toml:3:1");
  CHECK(ToString(PlaceOf(config, "loss")) == "run.toml:3:1");
  CHECK(ToString(PlaceOf(config, "model.layers.0 (flatten)")) == "run.toml:1:1");
  CHECK(ToString(PlaceOf(config, "something else")) == "run.toml");
  CHECK(ToString(PlaceOf(config, "training.threads")) == "run.toml:1:1");
  CHECK(ToString(PlaceOf(RunConfig(), "1")).empty());
}

TEST_CASE("a key has its own place, else its section's, else the file's, unless code set it") {
  RunConfig config = ReadRunConfigText(
      "[loss]\n[training]\nseed = 3\n[[model.layers]]\n"
      "type = \"flatten\"\n",
      "run.toml", {"training.epochs=2"});
  const auto place = [&](const std::string& key) { return ToString(config.origins.PlaceOf(key)); };
  CHECK(place("training.seed") == "run.toml:3:1");
  CHECK(place("training.threads") == "run.toml:2:1");
  CHECK(place("training.epochs") == "--set training.epochs=2");
  CHECK(place("loss.kind") == "run.toml:1:1");
  CHECK(place("data.dataset") == "run.toml:1:1");
  config.origins.Set("training.seed", Origin::Code());
  CHECK(place("training.seed").empty());
}

TEST_CASE("an empty file is named") {
  CHECK(PlanRefusal("").starts_with("run.toml:1:1: [model] a model is a list of layers"));
}

}  // namespace
}  // namespace frugal::testing

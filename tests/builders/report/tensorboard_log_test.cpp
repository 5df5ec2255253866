#include "builders/report/tensorboard_log.h"

#include <filesystem>
#include <set>

#include "builders/output_files.h"
#include "builders/run_training.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/event_reader.h"
#include "tests/support/compare_trained.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// The one file of events in a directory.
std::string EventsIn(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    found.push_back(entry.path().string());
  }
  REQUIRE(found.size() == 1);
  CHECK_THAT(fs::path(found.front()).filename().string(),
             Catch::Matchers::StartsWith("events.out.tfevents."));
  return found.front();
}

TEST_CASE("a file of events begins with its version and holds what is written") {
  const TempDir directory;
  EventFile file(directory.File("new/runs"));
  CHECK(ReadEvents(file.path()).size() == 1);  // TensorBoard sees the run at once
  file.Write(300, {{"a/b", 0.25}, {"c", -1e30}});
  file.Write(std::int64_t{1} << 40, {{std::string(300, 'x'), 3}});
  file.Flush();
  const std::vector<ReadEvent> events = ReadEvents(EventsIn(directory.File("new/runs")));
  REQUIRE(events.size() == 3);
  CHECK(events[0].file_version == "brain.Event:2");
  CHECK(events[1].step == 300);
  CHECK(events[1].wall_time > 1.6e9);
  CHECK(events[1].scalars == std::map<std::string, float>{{"a/b", 0.25F}, {"c", -1e30F}});
  CHECK(events[2].step == std::int64_t{1} << 40);
  CHECK(events[2].scalars == std::map<std::string, float>{{std::string(300, 'x'), 3.0F}});
}

TEST_CASE("a training writes each step, evaluation and epoch for TensorBoard") {
  const TempDir directory;
  SmallRun run;
  run.network = "mlp";
  run.threads = 1;
  run.max_steps = 6;
  AiModelBuilder builder = BuilderFor(run).Override(
      {"training.metrics=[\"f1\", \"accuracy\"]", "training.evaluate_every=4",
       "training.clip_gradient_norm=0.5", "output.tensorboard=" + directory.File("runs")});
  const TrainedRun trained =
      RunTraining(builder.Plan(), {.quiet = true}, SyntheticSources(LayoutFor(run.network)));
  const TrainingResult& result = trained.result;

  std::map<std::string, std::vector<std::pair<std::int64_t, float>>> curves;
  for (const ReadEvent& event : ReadEvents(EventsIn(directory.File("runs")))) {
    for (const auto& [tag, value] : event.scalars) curves[tag].emplace_back(event.step, value);
  }
  REQUIRE(curves["train/loss"].size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto step = static_cast<std::int64_t>(i + 1);
    CHECK(curves["train/loss"][i] == std::pair(step, static_cast<float>(result.losses[i])));
    CHECK(curves["train/gradient_norm"][i] ==
          std::pair(step, static_cast<float>(result.gradient_norms[i])));
  }
  CHECK(curves["train/learning_rate"].size() == 6);
  CHECK(curves["train/samples_per_second"].size() == 6);
  REQUIRE(curves["memory/live_bytes"].size() == 6);
  CHECK(curves["memory/live_bytes"].front().second > 0);
  REQUIRE(curves["evaluation/loss"].size() == result.evaluations.size());
  CHECK(curves["evaluation/f1"].size() == result.evaluations.size());
  for (std::size_t i = 0; i < result.evaluations.size(); ++i) {
    const Evaluation& evaluation = result.evaluations[i];
    CHECK(curves["evaluation/loss"][i] ==
          std::pair(evaluation.step, static_cast<float>(evaluation.result.loss)));
    CHECK(curves["evaluation/accuracy"][i].second ==
          static_cast<float>(*evaluation.result.accuracy));
  }
  CHECK(curves["epoch/mean_loss"].size() == result.epochs.size());
}

TEST_CASE("a log for TensorBoard is an observer of its own, and flushed behind evaluations") {
  const TempDir directory;
  TensorBoardLog log(directory.File("runs"));
  log.OnStep({.step = 1, .loss = 2, .live_bytes = 8});
  Evaluation evaluation;
  evaluation.step = 1;
  evaluation.result.loss = 0.5;
  log.OnEvaluation(evaluation);
  const std::vector<ReadEvent> events = ReadEvents(log.path());  // while it is open
  REQUIRE(events.size() == 3);
  CHECK(events[1].scalars.count("train/gradient_norm") == 0);  // nothing clips
  CHECK(events[2].scalars == std::map<std::string, float>{{"evaluation/loss", 0.5F}});
}

TEST_CASE("a training that goes on takes the place of later steps in earlier files") {
  const TempDir directory;
  const TensorBoardLog begun(directory.File("runs"));
  CHECK(ReadEvents(begun.path()).size() == 1);
  const TensorBoardLog rest(directory.File("runs"), 12);
  const std::vector<ReadEvent> events = ReadEvents(rest.path());
  REQUIRE(events.size() == 2);
  CHECK(events[1].step == 13);
  CHECK(events[1].session == 1);
  CHECK(events[1].scalars.empty());
}

TEST_CASE("two files of events that begin in one second are two files") {
  const TempDir directory;
  std::set<std::string> paths;
  for (int i = 0; i < 5; ++i) paths.insert(EventFile(directory.File("runs")).path());
  CHECK(paths.size() == 5);
  for (const std::string& path : paths) CHECK(ReadEvents(path).size() == 1);
}

TEST_CASE("a directory for events that cannot be made is named, before the training too") {
  const TempDir directory;
  const std::string file = directory.Write("notes", "");
  CHECK_THAT(RefusalOf([&] { TensorBoardLog log(file); }),
             Contains("notes") && Contains("output.tensorboard"));
  RunConfig config;
  for (const std::string& wrong : {file, std::string(), file + "/below"}) {
    config.output.tensorboard = wrong;
    CHECK_THAT(RefusalOf([&] { PrepareOutputs(config); }), Contains("[output.tensorboard]"));
  }
  CHECK(ReadAll(file).empty());
}

}  // namespace
}  // namespace frugal::testing

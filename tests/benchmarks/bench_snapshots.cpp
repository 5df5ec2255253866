// Measures what snapshots cost a training: a step without them, and with one behind every step,
// written beside the next steps; how long the training waits, and how fast they are written.
//
//   bench_snapshots [NAME...] [--directory DIR] [--steps N] [--rounds N] [--parts N]
//
// A step has N parts (training.gradient_accumulation_steps), one unless given, each a batch of
// bench_compare's workload.
//
// DIR, build unless given, is on the disk that is measured; DIR/bench_snapshots is made anew and
// removed. The two ways take turns. Where a disk takes longer than a step, snapshots that would
// have to wait are skipped (when_busy = "skip"), and the share that was saved is printed. What the
// writing thread takes of a core ("core ms") is free of the noise of times, and with the stall a
// bound of what a snapshot costs its step.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "builders/main_guard.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/number_text.h"
#include "tests/benchmarks/seconds.h"
#include "tests/benchmarks/training_options.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {
namespace {

struct BenchOptions {
  std::vector<std::string> names;
  std::string directory;
  std::int64_t steps = 0;
  int rounds = 0;
  int parts = 0;
};

BenchOptions Read(int count, char** arguments) {
  const TrainingOptionsGiven given =
      ReadTrainingOptions(count, arguments, {"--directory", "--steps", "--rounds", "--parts"});
  BenchOptions options;
  options.names = given.names.empty() ? std::vector<std::string>{"chargpt", "gpt2"} : given.names;
  options.directory = given.Text("--directory", "build") + "/bench_snapshots";
  options.steps = given.Count("--steps", 12);
  options.rounds = given.Count("--rounds", 5);
  options.parts = given.Count("--parts", 1);
  return options;
}

struct Measured {
  double step = 0;  // seconds
  SnapshotCost cost;
};

Measured Run(const Workload& workload, const BenchOptions& options, bool saves) {
  std::filesystem::remove_all(options.directory);
  AiModelBuilder builder = BuilderFor(workload, {}, Precision::kF32);
  builder.Override({"training.max_steps=" + std::to_string(options.steps), "training.epochs=1000",
                    "training.evaluate=false",
                    "training.gradient_accumulation_steps=" + std::to_string(options.parts)});
  if (saves) {
    builder.Snapshots(
        {.directory = options.directory, .every_n_steps = 1, .when_busy = BusyPolicy::kSkip});
  }
  Model model = builder.Build();
  const TrainingResult result = model.Train();
  return {.step = static_cast<double>(workload.batch) / result.samples_per_second +
                  result.snapshots.stall_seconds / static_cast<double>(result.steps),
          .cost = result.snapshots};
}

std::vector<std::string> RowOf(const Workload& workload, const BenchOptions& options) {
  std::vector<double> without, with, ratios;
  SnapshotCost cost;
  for (int round = 0; round < options.rounds; ++round) {
    without.push_back(Run(workload, options, false).step);
    const Measured saved = Run(workload, options, true);
    with.push_back(saved.step);
    ratios.push_back(with.back() / without.back());
    cost = saved.cost;
  }
  const double megabytes = static_cast<double>(cost.bytes) / 1e6;
  const auto saves = static_cast<double>(std::max<std::int64_t>(1, cost.saved));
  return {workload.name,
          FixedText(1e3 * Median(without), 1),
          FixedText(1e3 * Median(with), 1),
          FixedText(100 * (Median(ratios) - 1), 1) + " %",
          FixedText(1e3 * cost.stall_seconds / saves, 2),
          FixedText(1e3 * cost.core_seconds / saves, 1),
          FixedText(megabytes / saves, 1),
          FixedText(megabytes / cost.write_seconds, 0),
          FormatCount(cost.saved) + " of " + FormatCount(options.steps)};
}

void Bench(const BenchOptions& options) {
  TextTable table;
  table.columns = {{"training"},      {"step ms", true},  {"with snapshots", true},
                   {"more", true},    {"stall ms", true}, {"core ms", true},
                   {"MB each", true}, {"MB/s", true},     {"saved", true}};
  for (const std::string& name : options.names) {
    Workload workload = WorkloadNamed(name);
    workload.batch *= options.parts;
    table.rows.push_back(RowOf(workload, options));
  }
  std::cout << ToText(table);
  std::filesystem::remove_all(options.directory);
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  return frugal::RunProgram([&] { frugal::Bench(frugal::Read(count, arguments)); });
}

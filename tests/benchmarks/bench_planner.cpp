// Tries budgets of published models from below the least to above all that they would take, and
// tells where the planner's laws (tests/support/planner_laws.h) do not hold: nothing is over its
// budget, a smaller budget never raises the footprint, a larger one never the predicted time.
//
//   bench_planner [NAME...] [--budgets N] [--batch N]
//   bench_planner --random N [--budgets N]               of so many random networks
//   bench_planner --buffers N                            only lays out an arena of so many buffers
//   bench_planner --layers N...                          only plans networks of so many layers
//
// Prints the longest planning of one budget too, and the mean of the predicted times as a multiple
// of that with nothing chosen. Exits with 1 where a law is broken.
#include <iostream>
#include <string>
#include <vector>

#include "builders/main_guard.h"
#include "builders/plan/published_models.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/core/slow_work.h"
#include "tests/benchmarks/planner_scale.h"
#include "tests/support/planner_laws.h"
#include "tests/support/random_network.h"

namespace frugal {
namespace {

struct BenchOptions {
  std::vector<std::string> names;
  int budgets = 200;
  int batch = 4;
  int random = 0;
  std::int64_t buffers = 0;
  std::vector<std::int64_t> layers;
};

BenchOptions Read(int count, char** arguments) {
  BenchOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--budgets" && i + 1 < count) {
      options.budgets = std::stoi(arguments[++i]);
    } else if (word == "--batch" && i + 1 < count) {
      options.batch = std::stoi(arguments[++i]);
    } else if (word == "--random" && i + 1 < count) {
      options.random = std::stoi(arguments[++i]);
    } else if (word == "--buffers" && i + 1 < count) {
      options.buffers = std::stoll(arguments[++i]);
    } else if (word == "--layers") {
      while (i + 1 < count) options.layers.push_back(std::stoll(arguments[++i]));
    } else {
      options.names.push_back(word);
    }
  }
  if (options.names.empty()) {
    options.names = {"resnet-18", "resnet-50", "vit-b-16",     "dit-s-2",
                     "gpt2",      "bert-base", "ddpm-cifar10", "uvit-h-2"};
  }
  return options;
}

std::vector<std::string> RowOf(const std::string& name, const testing::PlannerLaws& laws) {
  return {name,
          FormatCount(laws.budgets),
          FormatCount(laws.fits),
          FormatCount(laws.over),
          FormatCount(laws.higher),
          FormatCount(laws.slower),
          FormatCount(laws.refused),
          FixedText(laws.longest_seconds, 2),
          FixedText(laws.mean_slowdown, 4),
          FixedText(100 * laws.least_bound, 1) + "%"};
}

testing::PlannerLaws OfRandomNetworks(const BenchOptions& options) {
  testing::PlannerLaws all;
  SlowWork progress;
  for (int seed = 0; seed < options.random; ++seed) {
    progress.Tell([&] { return std::to_string(seed) + " random networks tried"; });
    all.Add(
        testing::TestPlannerLaws(testing::RandomNetwork(static_cast<std::uint64_t>(seed)).Plan(),
                                 options.budgets, testing::WithBounds::kYes));
  }
  return all;
}

int Bench(const BenchOptions& options) {
  if (!options.layers.empty()) {
    PrintPlanning(options.layers);
    return 0;
  }
  if (options.buffers > 0) {
    PrintLayouts(options.buffers);
    return 0;
  }
  TextTable table;
  table.columns = {
      {"model"},           {"budgets", true},    {"fit", true},     {"over", true},
      {"higher", true},    {"slower", true},     {"refused", true}, {"longest s", true},
      {"mean time", true}, {"least bound", true}};
  int broken = 0;
  const auto add = [&](const std::string& name, const testing::PlannerLaws& laws) {
    broken += laws.broken();
    table.rows.push_back(RowOf(name, laws));
  };
  if (options.random > 0) {
    add(FormatCount(options.random) + " random networks", OfRandomNetworks(options));
  } else {
    for (const std::string& name : options.names) {
      const PlannedTraining planned =
          PlanNamedModel(name, {"training.batch_size=" + std::to_string(options.batch)});
      add(name, testing::TestPlannerLaws(planned, options.budgets, testing::WithBounds::kYes));
    }
  }
  std::cout << ToText(table);
  return broken == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  int code = 1;
  const int failed =
      frugal::RunProgram([&] { code = frugal::Bench(frugal::Read(count, arguments)); });
  return failed != 0 ? failed : code;
}

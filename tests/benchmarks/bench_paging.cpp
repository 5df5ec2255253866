// Measures what a page file costs a training step, and what it takes from the peak: without one,
// with the optimizer's state in it, with weights too, and with all that forward passes keep.
//
//   bench_paging [NAME...] [--file FILE] [--steps N] [--rounds N] [--devices N]
//
// FILE, build/page unless given, is on the disk that is measured: a last line tells its rates, as
// the planner measures them. The ways take turns; a step's time is the median over rounds of a
// training's mean, "waited" what of it the step stood still for the disk. Several devices are the
// stages of a pipeline, each with a file, and "waited" is of the one that waited longest.
#include <iostream>

#include "builders/main_guard.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/core/slow_work.h"
#include "sdk/io/paging/page_rate.h"
#include "tests/benchmarks/seconds.h"
#include "tests/benchmarks/training_options.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {
namespace {

struct BenchOptions {
  std::vector<std::string> names;
  std::string file;
  std::int64_t steps = 0;
  int rounds = 0;
  std::int64_t devices = 1;
};

BenchOptions Read(int count, char** arguments) {
  const TrainingOptionsGiven given =
      ReadTrainingOptions(count, arguments, {"--file", "--steps", "--rounds", "--devices"});
  BenchOptions options;
  options.names = given.names.empty() ? std::vector<std::string>{"chargpt", "gpt2"} : given.names;
  options.file = given.Text("--file", "build/page");
  options.steps = given.Count("--steps", 6);
  options.rounds = given.Count("--rounds", 3);
  options.devices = given.Count("--devices", 1);
  return options;
}

// One way to page.
struct Way {
  std::string name;
  std::vector<std::string> overrides;
};

std::vector<Way> Ways(const std::string& file) {
  const std::string page = "memory.memory_page_file=" + file;
  return {
      {"no page file", {}},
      {"optimizer's state", {page}},
      {"weights too", {page, "memory.memory_page_kinds=Weights"}},
      {"activations too",
       {page, "memory.memory_page_kinds=Weights", "memory.memory_page_activations_mb=1000000"}}};
}

struct Measured {
  std::vector<double> steps{};   // seconds, of each round
  std::vector<double> waited{};  // the same, a step
  MemoryMeasurement memory{};
  std::int64_t planned_bytes = 0;
};

void Run(const Workload& workload, const Way& way, const BenchOptions& options,
         Measured& measured) {
  AiModelBuilder builder = BuilderFor(workload, {}, Precision::kF32);
  std::vector<std::string> overrides = way.overrides;
  if (options.devices > 1) {
    overrides.insert(overrides.end(), {"memory.num_devices=" + std::to_string(options.devices),
                                       "memory.use_pipeline_parallelism=true"});
  }
  overrides.insert(overrides.end(), {"training.max_steps=" + std::to_string(options.steps),
                                     "training.epochs=1000", "training.evaluate=false"});
  Model model = builder.Override(overrides).Build();
  const TrainingResult result = model.Train();
  measured.memory = result.memory;
  measured.planned_bytes = model.plan().peak_bytes;
  const auto steps = static_cast<double>(options.steps);
  measured.steps.push_back(static_cast<double>(workload.batch) / result.samples_per_second);
  measured.waited.push_back(result.memory.paging ? result.memory.paging->waited_seconds / steps
                                                 : 0);
}

std::string RatesText(const PageRate& rate) {
  const auto megabytes = [](double bytes) { return FixedText(bytes / 1e6, 0) + " MB/s"; };
  return "the disk writes " + megabytes(rate.write) + " and reads " + megabytes(rate.read) +
         "; copies " + megabytes(rate.copy) + "; kernels fall behind by " +
         FixedText(1e9 * rate.delay, 2) + " ms for each MB\n";
}

void Bench(const BenchOptions& options) {
  SlowWork progress;
  TextTable table;
  table.columns = {{"workload"},      {"in the page file"},   {"step ms", true},
                   {"of none", true}, {"waited ms", true},    {"read a step", true},
                   {"written", true}, {"planned peak", true}, {"measured", true}};
  for (const std::string& name : options.names) {
    const Workload workload = WorkloadNamed(name);
    const std::vector<Way> ways = Ways(options.file);
    std::vector<Measured> measured(ways.size());
    for (int round = 0; round < options.rounds; ++round) {
      for (std::size_t i = 0; i < ways.size(); ++i) {
        progress.Tell([&] { return name + ", round " + std::to_string(round + 1); });
        Run(workload, ways[i], options, measured[i]);
      }
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Measured& one = measured[i];
      const PagingTraffic traffic = one.memory.paging ? one.memory.paging->step : PagingTraffic();
      const double step = Median(one.steps);
      table.rows.push_back({name, ways[i].name, FixedText(1e3 * step, 0),
                            FixedText(step / Median(measured[0].steps), 2),
                            FixedText(1e3 * Median(one.waited), 0), FormatBytes(traffic.in_bytes),
                            FormatBytes(traffic.out_bytes), FormatBytes(one.planned_bytes),
                            FormatBytes(one.memory.peak_bytes)});
    }
  }
  std::cout << ToText(table) << RatesText(PageRateAt(options.file));
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  return frugal::RunProgram([&] { frugal::Bench(frugal::Read(count, arguments)); });
}

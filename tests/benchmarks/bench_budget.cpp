// Memory against time: a GPT, a ViT, a DiT, a U-Net and a ResNet planned within budgets from what
// they would take down to the least they can do with, beside segments of every N layers and of
// sqrt(n). Every measurement has a process of its own; in every round the ways take their turns,
// and a step's time is a ratio to that with all memory in the same round, so that it holds on a
// busy machine as far as any does; steps in which its host served others are not counted, where
// there are enough of others. Prints planned, measured and resident peaks, how much less
// activations take at the peak, the medians of a step's time and of what plans predicted of it, and
// draws the curves into bench_budget_<model>.svg in the build directory. Exits with 1 where a plan
// passes its budget, a run differs from its plan, or the process takes more than 3% and 60 MB
// beyond it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>

#include "builders/budget/budget_search.h"
#include "builders/report/html/html.h"
#include "builders/report/html/svg_chart.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "tests/benchmarks/forked.h"
#include "tests/benchmarks/host_watch.h"
#include "tests/benchmarks/preset_models.h"
#include "tests/benchmarks/seconds.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Workload> BudgetWorkloads() {
  std::vector<Workload> all;
  for (const PresetModel& model : PresetModels()) {
    all.push_back({model.name, model.architecture, {}, model.layout, model.batch});
  }
  for (const auto& [name, source] : {std::pair("dit", "dit_s2"), std::pair("unet", "unet")}) {
    all.push_back(WorkloadNamed(source));
    all.back().name = name;
    all.back().layout.train_count = 4 * all.back().batch;
  }
  return all;
}

AiModelBuilder TrainingOf(const Workload& spec, const TrainingMemoryConfig& memory) {
  return BuilderFor(spec, memory, Precision::kF32)
      .Training({.batch_size = spec.batch, .evaluate = false});
}

struct BenchOptions {
  std::vector<std::string> models = {"gpt", "vit", "dit", "unet", "resnet"};
  int points = 6;
  int steps = 6;
  int rounds = 3;
  bool measured_costs = false;
  std::string page_file;  // empty: none
};

struct Way {
  std::string name;
  std::int64_t budget_mb = 0;  // 0 = none
  TrainingMemoryConfig memory;
};

// Holds what one way to train takes, in one round.
struct Sample {
  std::int64_t planned = 0;  // peak
  std::int64_t footprint = 0;
  std::int64_t measured = 0;
  std::int64_t resident = 0;
  std::int64_t activations = 0;  // at the planned peak
  double step_seconds = 0;       // the median
  double predicted = 1;          // time of a step, as a ratio to that with nothing chosen
  double predicted_seconds = 0;  // 0 where costs are not measured
  double paged = 0;              // bytes that a step reads and writes
  double recomputed = 0;         // share of the step's FLOPs
};

struct Row {
  std::string name;
  std::int64_t budget_mb = 0;
  Sample sample;     // of the first round, but for the medians of times, predicted ones too
  double ratio = 1;  // of a step's time to that of the largest budget in the same round, median
  double saved = 0;  // of the activations of the largest budget, a share
  bool as_planned = true;  // in every round
};

double Megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kBytesPerMegabyte);
}

// Takes so many quiet steps behind the first two, or all where three times as many brought fewer.
double MedianOfSteps(Model& model, std::int64_t batch, int steps) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(batch));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  model.TrainStep(samples);
  model.TrainStep(samples);
  std::vector<double> quiet, all;
  while (std::ssize(quiet) < steps && std::ssize(all) < std::ptrdiff_t{3} * steps) {
    const HostWatch watch;
    const auto start = Clock::now();
    model.TrainStep(samples);
    const std::chrono::duration<double> taken = Clock::now() - start;
    all.push_back(taken.count());
    if (watch.WasQuiet(taken.count())) quiet.push_back(taken.count());
  }
  return Median(std::ssize(quiet) == steps ? quiet : all);
}

Sample Measure(const Workload& spec, const TrainingMemoryConfig& memory, int steps) {
  Model model = TrainingOf(spec, memory).Build();
  const Plan& plan = model.plan();
  Sample sample{.planned = plan.peak_bytes};
  sample.activations = plan.at_peak[MemoryTag::kActivation];
  sample.footprint = plan.budget ? plan.budget->planned_bytes : plan.peak_bytes;
  if (plan.budget) {
    sample.predicted = plan.budget->predicted_slowdown;
    sample.predicted_seconds = plan.budget->predicted_seconds.value_or(0);
    sample.paged = static_cast<double>(plan.budget->paged.in_bytes + plan.budget->paged.out_bytes);
  }
  sample.recomputed = plan.steps.front().recomputed_flops / plan.steps.front().flops;
  sample.step_seconds = MedianOfSteps(model, spec.batch, steps);
  sample.measured = model.Measured().peak_bytes;
  sample.resident = PeakResidentBytes();
  return sample;
}

Sample RunOne(const Workload& spec, const Way& way, int steps) {
  const auto sample = InChildProcess([&] { return Measure(spec, way.memory, steps); });
  if (!sample) {
    throw UsageError({.where = spec.name,
                      .required = way.name + " trains",
                      .given = "its process failed",
                      .advice = "see the message above"});
  }
  return *sample;
}

// The least and the most that budgets make a difference for, in MB.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Range RangeOf(const Workload& spec) {
  const auto range = InChildProcess([&] {
    const RunConfig config = TrainingOf(spec, {}).config();
    const TrainingSetup planned = PrepareTraining(config, &spec.layout);
    BudgetSearch search(planned, 0);
    const auto whole = [](std::int64_t bytes) {
      return static_cast<std::int64_t>(std::ceil(Megabytes(bytes)));
    };
    const std::int64_t most = whole(search.unconstrained().footprint.bytes);
    return Range{whole(search.Least().footprint.bytes), most};
  });
  return range.value_or(Range{});
}

std::vector<Way> Budgets(const Workload& spec, const BenchOptions& options) {
  const Range range = RangeOf(spec);
  std::vector<Way> ways;
  for (int i = options.points - 1; i >= 0; --i) {
    const std::int64_t budget =
        range.least + (range.most - range.least) * i / std::max(1, options.points - 1);
    TrainingMemoryConfig memory;
    memory.memory_budget_mb = MemoryBudget{.megabytes = budget};
    if (options.measured_costs) memory.planner_costs = PlannerCosts::kMeasured;
    if (!options.page_file.empty()) memory.memory_page_file = options.page_file;
    ways.push_back({"budget", budget, memory});
  }
  return ways;
}

std::vector<Way> EveryN(const Workload& spec) {
  const auto size = static_cast<double>(
      PrepareTraining(TrainingOf(spec, {}).config(), &spec.layout).network->size());
  const auto root = static_cast<std::int64_t>(std::lround(std::sqrt(size)));
  std::vector<Way> ways;
  for (const std::int64_t every : {std::int64_t{1}, std::int64_t{2}, root, std::int64_t{5}}) {
    TrainingMemoryConfig memory;
    memory.use_gradient_checkpointing = true;
    memory.checkpoint_every_n_layers = every;
    memory.optimizer_in_backward = true;
    const std::string name = every == root ? "sqrt(n)" : "every " + std::to_string(every);
    ways.push_back({name, 0, memory});
  }
  return ways;
}

bool AsPlanned(const Way& way, const Sample& sample) {
  const std::int64_t budget = way.budget_mb * kBytesPerMegabyte;
  const auto allowed = static_cast<std::int64_t>(1.03 * static_cast<double>(sample.planned)) +
                       60 * kBytesPerMegabyte;
  const bool within = way.budget_mb == 0 || sample.footprint <= budget;
  return within && sample.planned == sample.measured && sample.resident <= allowed;
}

// Every way once; in every other round backwards.
std::vector<Sample> RunRound(const Workload& spec, const std::vector<Way>& ways, int steps,
                             bool backwards) {
  std::vector<Sample> round(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::size_t turn = backwards ? ways.size() - 1 - i : i;
    round[turn] = RunOne(spec, ways[turn], steps);
  }
  return round;
}

Row RowOf(const Way& way, std::size_t i, const std::vector<std::vector<Sample>>& rounds) {
  Row row{.name = way.name, .budget_mb = way.budget_mb, .sample = rounds.front()[i]};
  std::vector<double> seconds, ratios, predicted_seconds, predicted;
  for (const std::vector<Sample>& round : rounds) {
    seconds.push_back(round[i].step_seconds);
    ratios.push_back(round[i].step_seconds / round.front().step_seconds);
    predicted_seconds.push_back(round[i].predicted_seconds);
    predicted.push_back(round[i].predicted);
    row.as_planned = row.as_planned && AsPlanned(way, round[i]);
  }
  row.sample.step_seconds = Median(seconds);
  row.sample.predicted_seconds = Median(predicted_seconds);
  row.sample.predicted = Median(predicted);
  row.ratio = Median(ratios);
  row.saved = 1 - static_cast<double>(row.sample.activations) /
                      static_cast<double>(rounds.front().front().activations);
  return row;
}

std::vector<Row> RunWays(const Workload& spec, const BenchOptions& options) {
  std::vector<Way> ways = Budgets(spec, options);
  for (Way& way : EveryN(spec)) ways.push_back(std::move(way));
  std::vector<std::vector<Sample>> rounds;
  for (int round = 0; round < options.rounds; ++round) {
    rounds.push_back(RunRound(spec, ways, options.steps, round % 2 == 1));
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < ways.size(); ++i) rows.push_back(RowOf(ways[i], i, rounds));
  return rows;
}

// --- output -------------------------------------------------------------------------------------

void PrintTable(const Workload& spec, const std::vector<Row>& rows) {
  TextTable table{.columns = {{"way"},
                              {"budget MB", true},
                              {"planned", true},
                              {"measured", true},
                              {"RSS MB", true},
                              {"saved", true},
                              {"again", true},
                              {"disk MB", true},
                              {"step ms", true},
                              {"predicted ms", true},
                              {"time", true},
                              {"predicted", true},
                              {""}},
                  .rows = {}};
  for (const Row& row : rows) {
    const Sample& sample = row.sample;
    table.rows.push_back(
        {row.name, row.budget_mb > 0 ? FormatCount(row.budget_mb) : "-",
         FixedText(Megabytes(sample.planned), 1), FixedText(Megabytes(sample.measured), 1),
         FixedText(Megabytes(sample.resident), 0), PercentText(row.saved),
         PercentText(sample.recomputed),
         FixedText(sample.paged / static_cast<double>(kBytesPerMegabyte), 0),
         FixedText(1e3 * sample.step_seconds, 0),
         sample.predicted_seconds > 0 ? FixedText(1e3 * sample.predicted_seconds, 0) : "-",
         FixedText(row.ratio, 2), row.budget_mb > 0 ? FixedText(sample.predicted, 2) : "-",
         row.as_planned ? "" : "NO"});
  }
  std::cout << spec.name << ", batch of " << spec.batch << "\n" << ToText(table) << std::flush;
}

void Draw(const Workload& spec, const std::vector<Row>& rows) {
  double most = 0;
  double slowest = 0;
  for (const Row& row : rows) {
    most = std::max(most, Megabytes(row.sample.planned));
    slowest = std::max({slowest, row.ratio, row.sample.predicted});
  }
  SvgChart chart({.x = ValueAxis(0, most, "peak memory, MB"),
                  .y = ValueAxis(0, slowest,
                                 "time of a step, of that with all memory; "
                                 "pale: as predicted")});
  std::vector<Point> line, predicted, others;
  std::vector<std::string> line_texts, other_texts;
  for (const Row& row : rows) {
    const Point point = {Megabytes(row.sample.planned), row.ratio};
    (row.budget_mb > 0 ? line : others).push_back(point);
    (row.budget_mb > 0 ? line_texts : other_texts).push_back(row.name);
    if (row.budget_mb > 0) predicted.push_back({point.x, row.sample.predicted});
    if (row.budget_mb == 0) chart.Text(point, 8, row.name, "end");
  }
  chart.Line(predicted, "loss faint");
  chart.Line(line, "loss");
  chart.Dots(line, line_texts, "loss-dot");
  chart.Dots(others, other_texts, "test-dot");
  std::string svg = chart.Finish("Time of a step by peak memory, " + spec.name);
  svg.insert(svg.find('>') + 1, "<style>" + std::string(ReportStyle()) + "</style>");
  svg.insert(4, " xmlns=\"http://www.w3.org/2000/svg\"");
  const std::string path =
      std::string(FRUGAL_BENCHMARK_OUTPUT) + "/bench_budget_" + spec.name + ".svg";
  std::ofstream(path) << svg;
  std::cout << "  " << path << "\n\n";
}

// --- command line -------------------------------------------------------------------------------

[[noreturn]] void Refuse(const std::string& given) {
  throw UsageError({.where = "bench_budget",
                    .required = "--model gpt|vit|dit|unet|resnet  --points N  --steps N  --rounds "
                                "N  --measured  --page-file FILE",
                    .given = "'" + given + "' was given",
                    .advice = "all are optional; numbers are at least 1"});
}

BenchOptions ReadOptions(int count, char** arguments) {
  BenchOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--measured") {
      options.measured_costs = true;
      continue;
    }
    const std::string value = i + 1 < count ? arguments[++i] : "";
    if (word == "--page-file" && !value.empty()) {
      options.page_file = value;
      continue;
    }
    const int number = std::atoi(value.c_str());
    if (word == "--model" && !value.empty()) {
      options.models = {value};
    } else if (word == "--points" && number >= 1) {
      options.points = number;
    } else if (word == "--steps" && number >= 1) {
      options.steps = number;
    } else if (word == "--rounds" && number >= 1) {
      options.rounds = number;
    } else {
      Refuse(word + " " + value);
    }
  }
  return options;
}

bool RunModel(const Workload& spec, const BenchOptions& options) {
  const std::vector<Row> rows = RunWays(spec, options);
  PrintTable(spec, rows);
  Draw(spec, rows);
  return std::ranges::all_of(rows, &Row::as_planned);
}

int Run(const BenchOptions& options) {
  bool all = true;
  for (const std::string& name : options.models) {
    const std::vector<Workload> models = BudgetWorkloads();
    const auto found = std::ranges::find(models, name, &Workload::name);
    if (found == models.end()) Refuse("--model " + name);
    all = RunModel(*found, options) && all;
  }
  if (!all) std::fprintf(stderr, "bench_budget: not every run was as planned\n");
  return all ? 0 : 1;
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  int status = 1;
  const int failed =
      frugal::RunProgram([&] { status = frugal::Run(frugal::ReadOptions(count, arguments)); });
  return failed != 0 ? failed : status;
}

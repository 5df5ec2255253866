// Measures what each memory preset costs on a GPT, a ViT and a ResNet: planned and measured peak,
// resident peak, recomputed share of the step's FLOPs, construction, and step time as a ratio to
// SpeedOptimized. Every measurement has a process of its own; in every round the presets take their
// turns, and ratios are taken within a round, so that they hold on a busy machine as far as any do.
// Exits with 1 where a run differs from its plan or a preset does not do what its name says.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>

#include "builders/report/text/text_table.h"
#include "presets/memory_presets.h"
#include "sdk/core/number_text.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/forked.h"
#include "tests/benchmarks/preset_models.h"
#include "tests/benchmarks/seconds.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTimedSteps = 4;

struct BenchOptions {
  std::vector<std::string> models = {"gpt", "vit", "resnet"};
  int rounds = 3;
  bool json = false;
};

// Holds the figures of one preset in one round.
struct Sample {
  std::int64_t planned = 0;
  std::int64_t measured = 0;
  std::int64_t resident_peak = 0;
  std::int64_t kept = 0;         // by which the process is larger between steps than at its start,
                                 // weights, gradients and optimizer state left out
  std::int64_t constructed = 0;  // bytes live when the model was made
  double construction_seconds = 0;
  double step_seconds = 0;  // the shortest of kTimedSteps
  double flops = 0;
  double recomputed_flops = 0;
  double arena_over_bound = 1;
  bool by_purpose_equal = false;
  bool weights_as_in_file = false;
};

struct Row {
  std::string preset;
  Sample sample;      // of the first round; times: medians over the rounds
  double ratio = 1;   // of step time to SpeedOptimized's in the same round
  bool equal = true;  // planned and measured, in every round
};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kBytesPerMegabyte);
}

std::string WeightsPath(const PresetModel& model) {
  const std::string name =
      "frugal_bench_" + model.name + "_" + std::to_string(getpid()) + ".safetensors";
  return (std::filesystem::temp_directory_path() / name).string();
}

double ShortestStep(Model& model, std::int64_t batch) {
  double shortest = 1e9;
  for (int step = 0; step < 2 + kTimedSteps; ++step) {
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < batch; ++i) samples.push_back(step * batch + i);
    const auto start = Clock::now();
    model.TrainStep(samples);
    if (step >= 2) shortest = std::min(shortest, SecondsSince(start));
  }
  return shortest;
}

void TakeFromPlan(const Plan& plan, Sample& sample) {
  sample.planned = plan.peak_bytes;
  sample.flops = plan.steps.front().flops;
  sample.recomputed_flops = plan.steps.front().recomputed_flops;
  sample.arena_over_bound =
      static_cast<double>(plan.arena_bytes) /
      static_cast<double>(std::max<std::int64_t>(1, plan.live_lower_bound_bytes));
}

// A weight file and the hash of what is in it.
struct SavedWeights {
  std::string path;
  std::array<char, 16> hash{};

  bool AreIn(Model& model) const {
    return model.WeightsHash() == std::string(hash.begin(), hash.end());
  }
};

Sample Measure(const PresetModel& spec, const std::string& preset, const SavedWeights& weights) {
  const TrainingMemoryConfig memory = PresetByName(preset, {.weights_file_path = weights.path});
  Sample sample;
  PlannedTraining planned = BuilderFor(spec, memory).Plan();
  TakeFromPlan(planned.plan, sample);
  const std::int64_t resident = ResidentBytes();
  const auto start = Clock::now();
  Model model(std::move(planned),
              {std::make_shared<RandomSamples>(spec.layout, spec.layout.train_count), nullptr});
  sample.construction_seconds = SecondsSince(start);
  sample.constructed = model.live_bytes();
  if (preset == "ForTransferLearning") sample.weights_as_in_file = weights.AreIn(model);
  sample.step_seconds = ShortestStep(model, spec.batch);
  const MemoryMeasurement measured = model.Measured();
  sample.measured = measured.peak_bytes;
  sample.by_purpose_equal = measured.peak_by_purpose == model.plan().peak_by_purpose;
  sample.resident_peak = measured.peak_rss_bytes;
  sample.kept = ResidentBytes() - resident - model.live_bytes();
  return sample;
}

SavedWeights SaveInitialWeights(const PresetModel& spec) {
  SavedWeights weights{.path = WeightsPath(spec)};
  const auto hash = InChildProcess([&] {
    AiModelBuilder builder = BuilderFor(spec, TrainingMemoryConfig());
    TrainingOptions training = builder.config().training;
    training.seed = 99;  // so that the file cannot be taken for what the preset would start from
    Model model = builder.Training(training).Build();
    model.SaveWeights(weights.path);
    std::ranges::copy(model.WeightsHash(), weights.hash.begin());
    return weights.hash;
  });
  weights.hash = hash.value_or(weights.hash);
  return weights;
}

using Rounds = std::vector<std::map<std::string, Sample>>;

// Every preset once; in every other round backwards.
std::map<std::string, Sample> RunRound(const PresetModel& spec, const SavedWeights& weights,
                                       bool backwards) {
  std::vector<std::string> presets = PresetNames();
  if (backwards) std::ranges::reverse(presets);
  std::map<std::string, Sample> round;
  for (const std::string& preset : presets) {
    const auto sample = InChildProcess([&] { return Measure(spec, preset, weights); });
    if (!sample) {
      throw UsageError({.where = spec.name,
                        .required = "the preset " + preset + " trains",
                        .given = "its process failed",
                        .advice = "see the message above"});
    }
    round[preset] = *sample;
  }
  return round;
}

Row RowOf(const std::string& preset, const Rounds& rounds) {
  Row row{preset, rounds.front().at(preset)};
  std::vector<double> ratios, steps, constructions;
  for (const auto& round : rounds) {
    const Sample& sample = round.at(preset);
    row.equal = row.equal && sample.planned == sample.measured && sample.by_purpose_equal;
    ratios.push_back(sample.step_seconds / round.at("SpeedOptimized").step_seconds);
    steps.push_back(sample.step_seconds);
    constructions.push_back(sample.construction_seconds);
  }
  row.ratio = Median(ratios);
  row.sample.step_seconds = Median(steps);
  row.sample.construction_seconds = Median(constructions);
  return row;
}

std::vector<Row> RunModel(const PresetModel& spec, const BenchOptions& options) {
  const SavedWeights weights = SaveInitialWeights(spec);
  Rounds rounds;
  for (int round = 0; round < options.rounds; ++round) {
    rounds.push_back(RunRound(spec, weights, round % 2 == 1));
  }
  std::filesystem::remove(weights.path);
  std::vector<Row> rows;
  for (const std::string& preset : PresetNames()) rows.push_back(RowOf(preset, rounds));
  return rows;
}

// --- what the names promise ---------------------------------------------------------------------

// Libraries, threads' stacks and oneDNN's generated kernels: what a process grows by that is no
// tensor.
constexpr std::int64_t kProcessBytes = 96 * kBytesPerMegabyte;

// Tells what the preset did, in words, and whether that is what its name says.
struct Verdict {
  bool kept = true;
  std::string text;
};

Verdict VerdictOn(const Row& row, const Row& fastest) {
  const Sample& sample = row.sample;
  const std::string& name = row.preset;
  if (name == "MemoryEfficient" || name == "ForTransformers" || name == "ForConvNets") {
    const double share =
        static_cast<double>(sample.measured) / static_cast<double>(fastest.sample.measured);
    return {share < 1, "peak " + FixedText(100 * share, 0) + "% of SpeedOptimized's"};
  }
  if (name == "SpeedOptimized") return {sample.recomputed_flops == 0, "computes nothing twice"};
  if (name == "FastConstruction") {
    return {sample.constructed == 0, "takes no parameter memory before the first step"};
  }
  if (name == "ForTransferLearning") {
    return {sample.weights_as_in_file, "starts from the weights of the file"};
  }
  if (name == "AggressivePooling") {
    const std::int64_t pool =
        TrainingMemoryConfig::AggressivePooling().max_pool_memory_mb * kBytesPerMegabyte;
    return {sample.kept <= pool + kProcessBytes, "keeps at most its pool of " + FormatBytes(pool) +
                                                     " between steps (the process kept " +
                                                     FormatBytes(sample.kept) + ")"};
  }
  return {};
}

bool ReportVerdicts(const std::vector<Row>& rows, const BenchOptions& options) {
  const Row& fastest = *std::ranges::find(rows, "SpeedOptimized", &Row::preset);
  bool all = true;
  for (const Row& row : rows) {
    const auto [kept, text] = VerdictOn(row, fastest);
    all = all && kept && row.equal;
    if (!row.equal) {
      std::fprintf(stderr, "  NOT AS PLANNED  %s\n", row.preset.c_str());
    }
    if (options.json || text.empty()) continue;
    std::printf("  %s  %s: %s\n", kept ? "yes" : "NO ", row.preset.c_str(), text.c_str());
  }
  return all;
}

// --- output -------------------------------------------------------------------------------------

std::string Recomputed(const Sample& sample) {
  return FixedText(100 * sample.recomputed_flops / sample.flops, 1);
}

void PrintTable(const PresetModel& model, const std::vector<Row>& rows) {
  TextTable table{.columns = {{"preset"},
                              {"planned MB", true},
                              {"measured", true},
                              {"RSS MB", true},
                              {"arena/bound", true},
                              {"recomp. %", true},
                              {"made ms", true},
                              {"made MB", true},
                              {"step ms", true},
                              {"ratio", true}},
                  .rows = {},
                  .width = 110};
  for (const auto& [preset, sample, ratio, equal] : rows) {
    table.rows.push_back({preset, FixedText(Megabytes(sample.planned), 1),
                          (equal ? "= " : "NOT ") + FixedText(Megabytes(sample.measured), 1),
                          FixedText(Megabytes(sample.resident_peak), 0),
                          FixedText(sample.arena_over_bound, 3), Recomputed(sample),
                          FixedText(1e3 * sample.construction_seconds, 1),
                          FixedText(Megabytes(sample.constructed), 1),
                          FixedText(1e3 * sample.step_seconds, 0), FixedText(ratio, 2)});
  }
  std::cout << model.title << "\n" << ToText(table) << std::flush;
}

void PrintJson(const PresetModel& model, const std::vector<Row>& rows) {
  for (const auto& [preset, s, ratio, equal] : rows) {
    std::printf(
        "{\"model\": \"%s\", \"preset\": \"%s\", \"planned_bytes\": %lld, \"measured_bytes\": "
        "%lld, "
        "\"equal\": %s, \"peak_rss_bytes\": %lld, \"arena_over_bound\": %.4f, "
        "\"recomputed_percent\": %s, \"construction_seconds\": %.6f, \"constructed_bytes\": %lld, "
        "\"step_seconds\": %.6f, \"time_ratio\": %.3f}\n",
        model.name.c_str(), preset.c_str(), static_cast<long long>(s.planned),
        static_cast<long long>(s.measured), equal ? "true" : "false",
        static_cast<long long>(s.resident_peak), s.arena_over_bound, Recomputed(s).c_str(),
        s.construction_seconds, static_cast<long long>(s.constructed), s.step_seconds, ratio);
  }
}

// --- command line -------------------------------------------------------------------------------

[[noreturn]] void RefuseArguments(const std::string& given) {
  throw UsageError({.where = "bench_presets",
                    .required = "--models gpt,vit,resnet  --rounds N  --json",
                    .given = "'" + given + "' was given",
                    .advice = "all are optional; N is at least 1"});
}

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

BenchOptions ReadOptions(int count, char** arguments) {
  BenchOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const std::string value = i + 1 < count ? arguments[i + 1] : "";
    if (word == "--json") {
      options.json = true;
      continue;
    }
    if (word == "--models") {
      options.models = SplitNames(value);
    } else if (word == "--rounds" && std::atoi(value.c_str()) >= 1) {
      options.rounds = std::atoi(value.c_str());
    } else {
      RefuseArguments(word + (value.empty() ? "" : " " + value));
    }
    ++i;
  }
  return options;
}

PresetModel FindModel(const std::string& name) {
  for (PresetModel& model : PresetModels()) {
    if (model.name == name) return model;
  }
  RefuseArguments("--models " + name);
}

int Run(const BenchOptions& options) {
  std::vector<PresetModel> models;
  for (const std::string& name : options.models) models.push_back(FindModel(name));
  bool all = true;
  for (const PresetModel& model : models) {
    const std::vector<Row> rows = RunModel(model, options);
    options.json ? PrintJson(model, rows) : PrintTable(model, rows);
    all = ReportVerdicts(rows, options) && all;
    if (!options.json) std::printf("\n");
  }
  if (!all) std::fprintf(stderr, "bench_presets: not every preset did what it says\n");
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

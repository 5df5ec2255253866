// Measures what it costs to have published models without their weights: time to build and count,
// to destroy, and to plan a training, and by how much the process grows, with PyTorch's meta device
// beside it where that is installed. Every model has a process of its own; times are medians.
//
//   bench_construction [NAME...] [--repetitions N]
//
// Exits with 1 where a target is missed: dit-xl-2 is built and counted in under 2 ms, flux.1-dev in
// under 20 ms and 20 MB.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "builders/config/architecture_reader.h"
#include "builders/main_guard.h"
#include "builders/plan/published_models.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/compare_peer.h"
#include "tests/benchmarks/forked.h"

namespace frugal {
namespace {

struct BenchOptions {
  std::vector<std::string> models;  // empty = all
  int repetitions = 21;
};

struct Target {
  const char* model;
  double milliseconds;
  std::int64_t resident_bytes;
};
constexpr std::array<Target, 2> kTargets = {
    Target{"dit-xl-2", 2, std::int64_t{20} << 20},
    Target{"flux.1-dev", 20, std::int64_t{20} << 20},
};

struct Sample {
  std::int64_t parameters = 0;
  std::int64_t resident_bytes = 0;  // by which building the first one let the process grow
  double build = 0;                 // milliseconds, medians
  double destroy = 0;
  double plan = 0;
  std::int64_t plan_resident_bytes = 0;
};

template <class Work>
double MillisecondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Sample Measure(const std::string& name, int repetitions) {
  const ArchitectureConfig config = ArchitectureNamed(name);
  Sample sample;
  std::vector<double> build;
  std::vector<double> destroy;
  const std::int64_t before = ResidentBytes();
  for (int i = 0; i < repetitions; ++i) {
    std::unique_ptr<Sequential> network;
    build.push_back(MillisecondsOf([&] {
      network = BuildArchitecture(config);
      sample.parameters = network->ParameterCount();
    }));
    if (i == 0) sample.resident_bytes = ResidentBytes() - before;
    destroy.push_back(MillisecondsOf([&] { network.reset(); }));
  }
  sample.build = Median(std::move(build));
  sample.destroy = Median(std::move(destroy));
  std::vector<double> plan;
  for (int i = 0; i < 3; ++i) plan.push_back(MillisecondsOf([&] { PlanNamedModel(name); }));
  sample.plan = Median(std::move(plan));
  sample.plan_resident_bytes = ResidentBytes() - before;
  return sample;
}

bool MeetsTarget(const std::string& name, const Sample& sample) {
  return std::ranges::all_of(kTargets, [&](const Target& target) {
    return name != target.model ||
           (sample.build < target.milliseconds && sample.resident_bytes < target.resident_bytes);
  });
}

// Time and growth of PyTorch's, or why there is none.
std::vector<std::string> PeerCells(const Peer& peer, const std::string& name, int repetitions,
                                   std::int64_t parameters) {
  const auto json = peer.Run("construction_peer.py", name + " " + std::to_string(repetitions));
  if (!json.is_object()) return {"-", "-"};
  if (json.at("parameters") != parameters) return {"another model", "-"};
  return {FixedText(json.at("ms").get<double>(), 2),
          FormatBytes(json.at("resident_bytes").get<std::int64_t>())};
}

BenchOptions ReadOptions(int count, char** words) {
  BenchOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word != "--repetitions") {
      ArchitectureNamed(word);
      options.models.push_back(word);
    } else if (i + 1 == count || (options.repetitions = std::atoi(words[++i])) < 1) {
      throw UsageError({.where = "bench_construction",
                        .required = "[NAME...] [--repetitions N]",
                        .given = word,
                        .advice = "e.g. dit-xl-2 --repetitions 21"});
    }
  }
  if (options.models.empty()) options.models = NamedModels();
  return options;
}

bool RunBench(const BenchOptions& options) {
  const Peer peer;
  TextTable table;
  table.columns = {{"model"},          {"parameters", true}, {"build ms", true},
                   {"grows by", true}, {"destroy ms", true}, {"plan ms", true},
                   {"grows by", true}, {"PyTorch ms", true}, {"grows by", true}};
  table.width = 140;
  bool all_met = true;
  for (const std::string& name : options.models) {
    const auto sample = InChildProcess([&] { return Measure(name, options.repetitions); });
    if (!sample) return false;
    all_met = MeetsTarget(name, *sample) && all_met;
    table.rows.push_back({name, FormatCount(sample->parameters), FixedText(sample->build, 2),
                          FormatBytes(sample->resident_bytes), FixedText(sample->destroy, 2),
                          FixedText(sample->plan, 1), FormatBytes(sample->plan_resident_bytes)});
    const auto cells = PeerCells(peer, name, options.repetitions, sample->parameters);
    table.rows.back().insert(table.rows.back().end(), cells.begin(), cells.end());
  }
  std::cout << "Published models without their weights, medians of " << options.repetitions
            << "; PyTorch: " << (peer.exists() ? "on its meta device" : peer.settings()) << "\n\n"
            << ToText(table);
  if (!all_met) std::cout << "\na target is missed: see the head of bench_construction.cpp\n";
  return all_met;
}

}  // namespace
}  // namespace frugal

int main(int count, char** words) {
  bool met = false;
  const int code =
      frugal::RunProgram([&] { met = frugal::RunBench(frugal::ReadOptions(count, words)); });
  return code != 0 ? code : met ? 0 : 1;
}

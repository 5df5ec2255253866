// Measures what recording a step for a memory report costs: a step that is recorded, with all of
// its tensors and timed operations, beside one that is not, in turn; and how long a report takes
// then.
//
//   bench_memory_report [NAME...] [--steps N]
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>

#include "builders/main_guard.h"
#include "builders/memory_report/memory_report.h"
#include "builders/report/memory/memory_page.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"
#include "tests/benchmarks/seconds.h"
#include "tests/benchmarks/workloads.h"

namespace frugal {
namespace {

const Workload& Named(const std::vector<Workload>& workloads, const std::string& name) {
  const auto found = std::ranges::find(workloads, name, &Workload::name);
  if (found != workloads.end()) return *found;
  throw UsageError({.where = "bench_memory_report",
                    .required = "a workload of bench_compare",
                    .given = name,
                    .advice = "e.g. chargpt, gpt2, mlp"});
}

double SecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::string> RowOf(const Workload& workload, int steps) {
  Model model = BuilderFor(workload, {}, Precision::kF32).Build();
  const std::vector<std::int64_t> samples = FirstSamples(workload.batch);
  for (int i = 0; i < 2; ++i) model.TrainStep(samples);
  std::vector<double> plain, ratios;
  for (int i = 0; i < steps; ++i) {
    plain.push_back(SecondsOf([&] { model.TrainStep(samples); }));
    model.RecordNextStep();
    ratios.push_back(SecondsOf([&] { model.TrainStep(samples); }) / plain.back());
  }
  std::size_t bytes = 0;
  const double report = SecondsOf([&] { bytes = MemoryPage(model.MemoryReport()).size(); });
  return {workload.name, FixedText(1e3 * Median(plain), 1),
          FixedText(100 * (Median(ratios) - 1), 1) + " %", FixedText(1e3 * report, 1),
          FormatBytes(static_cast<std::int64_t>(bytes))};
}

void Bench(int count, char** arguments) {
  std::vector<std::string> names;
  int steps = 15;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--steps" && i + 1 < count) {
      steps = std::stoi(arguments[++i]);
    } else {
      names.push_back(word);
    }
  }
  if (names.empty()) names = {"mlp", "chargpt", "resnet18_cifar"};
  const std::vector<Workload> workloads = Workloads();
  TextTable table;
  table.columns = {
      {"training"}, {"step ms", true}, {"recorded", true}, {"report ms", true}, {"page", true}};
  for (const std::string& name : names) table.rows.push_back(RowOf(Named(workloads, name), steps));
  std::cout << ToText(table);
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  return frugal::RunProgram([&] { frugal::Bench(count, arguments); });
}

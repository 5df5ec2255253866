// One training step of known workloads, here and in PyTorch where it is installed, on the same two
// cores, in turn: time of a step and of a forward pass, peak RSS, GFLOP/s, and the share of the
// best product of this machine, measured in the same run. f32.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sdk/backend/backend.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/forked.h"
#include "tests/benchmarks/workloads.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

struct Measured {
  double step_ms = 0;
  double forward_ms = 0;
  double peak_rss_mb = 0;
  double step_flops = 0;
};

constexpr double kSeconds = 6;  // of steps, in each repetition
constexpr int kLeastSteps = 5;

template <class Body>
double MedianMilliseconds(double seconds, const Body& body) {
  std::vector<double> times;
  const auto start = Clock::now();
  while (static_cast<int>(times.size()) < kLeastSteps || SecondsSince(start) < seconds) {
    const auto begin = Clock::now();
    body();
    times.push_back(1e3 * SecondsSince(begin));
  }
  return Median(times);
}

Measured MeasureOurs(const Workload& workload) {
  Model model = BuilderFor(workload).Build();
  std::vector<std::int64_t> samples = FirstSamples(workload.batch);
  const auto step = [&] { model.TrainStep(samples); };
  step();
  step();
  Measured measured;
  measured.step_ms = MedianMilliseconds(kSeconds, step);
  measured.peak_rss_mb = static_cast<double>(PeakResidentBytes()) / (1 << 20);
  model.Evaluate();
  measured.forward_ms = MedianMilliseconds(kSeconds / 4, [&] { model.Evaluate(); });
  measured.step_flops = model.plan().steps.front().flops;
  return measured;
}

// The best of a few products of transformer shapes.
double MeasureLimit() {
  const auto backend = MakeBackend(BackendKind::kOneDnn);
  double best = 0;
  for (const auto& [rows, inputs, outputs] :
       {std::array<std::int64_t, 3>{4096, 384, 1536}, {1024, 768, 3072}, {2048, 1024, 1024}}) {
    const Tensor x = test::RandomTensor({rows, inputs}, 1);
    const Tensor w = test::RandomTensor({outputs, inputs}, 2);
    const Tensor y = test::Uninitialized({rows, outputs});
    const Tensor scratch = test::ScratchOf(backend->product().LinearForwardScratch(x, w));
    const auto product = [&] {
      backend->product().LinearForward(x, w, {}, {}, y, {}, scratch.raw());
    };
    product();
    const double ms = MedianMilliseconds(1, product);
    best = std::max(best,
                    2e-6 * static_cast<double>(rows * inputs) * static_cast<double>(outputs) / ms);
  }
  return best;
}

// What peer.py prints; nothing where PyTorch is not installed or it failed.
Json RunPeer(const std::string& workload) {
  const std::string command =
      "OMP_NUM_THREADS=2 python3 " FRUGAL_BENCHMARK_DIR "/peer.py " + workload + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  if (pclose(pipe) != 0) return {};
  return Json::parse(text, nullptr, false);
}

// The first two cores that this process may use, for it and its children.
void PinToTwoCores() {
  cpu_set_t allowed;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&chosen) < 2; ++core) {
    if (CPU_ISSET(core, &allowed)) CPU_SET(core, &chosen);
  }
  sched_setaffinity(0, sizeof(chosen), &chosen);
}

struct Options {
  std::string workloads;  // with commas around each; empty = all
  int repetitions = 3;
  bool json = false;
};

Json Compare(const Workload& workload, double limit, const Options& options) {
  std::vector<double> steps, forwards, rss, peer_steps, peer_rss;
  double flops = 0;
  for (int i = 0; i < options.repetitions; ++i) {
    const auto ours = InChildProcess([&] { return MeasureOurs(workload); });
    if (!ours) continue;
    steps.push_back(ours->step_ms);
    forwards.push_back(ours->forward_ms);
    rss.push_back(ours->peak_rss_mb);
    flops = ours->step_flops;
    const Json peer = RunPeer(workload.name);
    if (!peer.is_object()) continue;
    peer_steps.push_back(peer.value("step_ms", 0.0));
    peer_rss.push_back(peer.value("peak_rss_mb", 0.0));
  }
  const double gflops = flops / 1e6 / Median(steps);
  Json row = {{"workload", workload.name},  {"precision", "f32"},
              {"step_ms", Median(steps)},   {"forward_ms", Median(forwards)},
              {"peak_rss_mb", Median(rss)}, {"gflops", gflops},
              {"limit_gflops", limit},      {"share_of_limit", gflops / limit}};
  if (!peer_steps.empty()) {
    row["peer_step_ms"] = Median(peer_steps);
    row["peer_peak_rss_mb"] = Median(peer_rss);
    row["ratio"] = Median(peer_steps) / Median(steps);
  }
  return row;
}

void PrintRow(const Json& row) {
  std::printf("%-15s %9.1f %9.1f %8.0f %8.0f %6.0f%%", row["workload"].get<std::string>().c_str(),
              row["step_ms"].get<double>(), row["forward_ms"].get<double>(),
              row["peak_rss_mb"].get<double>(), row["gflops"].get<double>(),
              100 * row["share_of_limit"].get<double>());
  if (row.contains("ratio")) {
    std::printf(" %10.1f %8.0f %6.2f", row["peer_step_ms"].get<double>(),
                row["peer_peak_rss_mb"].get<double>(), row["ratio"].get<double>());
  }
  std::printf("\n");
  std::fflush(stdout);
}

Options ReadOptions(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--json") {
      options.json = true;
    } else if (word == "--workloads" && has_value) {
      options.workloads = "," + std::string(words[++i]) + ",";
    } else if (word == "--repetitions" && has_value) {
      options.repetitions = std::max(1, std::atoi(words[++i]));
    } else {
      throw UsageError({.where = "bench_compare",
                        .required = "[--workloads NAME,...] [--repetitions N] [--json]",
                        .given = "'" + word + "'",
                        .advice = "e.g. --workloads chargpt,gpt2"});
    }
  }
  return options;
}

void Main(const Options& options) {
  PinToTwoCores();
  const double limit = InChildProcess(MeasureLimit).value_or(0);
  if (!options.json) {
    std::printf("best product of this machine: %.0f GFLOP/s (f32, two cores)\n\n", limit);
    std::printf("%-15s %9s %9s %8s %8s %7s %10s %8s %6s\n", "workload", "step ms", "fwd ms",
                "RSS MB", "GFLOP/s", "limit", "PyTorch ms", "RSS MB", "ratio");
  }
  Json rows = Json::array();
  for (const Workload& workload : Workloads()) {
    const bool wanted = options.workloads.find("," + workload.name + ",") != std::string::npos;
    if (!options.workloads.empty() && !wanted) continue;
    rows.push_back(Compare(workload, limit, options));
    if (!options.json) PrintRow(rows.back());
  }
  if (options.json) std::cout << rows.dump(2) << std::endl;
}

}  // namespace
}  // namespace frugal

int main(int count, char** words) {
  return frugal::RunProgram([&] { frugal::Main(frugal::ReadOptions(count, words)); });
}

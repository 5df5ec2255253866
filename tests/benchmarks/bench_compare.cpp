// One training step of known workloads, here and in PyTorch where it is installed, on the same two
// cores, in turn: time of a step and of a forward pass, peak RSS, GFLOP/s, and the share of the
// best product of this machine in the precision of the products, measured before and behind each
// repetition since a shared machine is faster in one minute than in the next, of what the best of
// oneDNN and OpenBLAS takes for f32 products of those shapes, measured then too, and of the peak of
// its instructions, measured in the same run. GFLOP/s are of our step's products, convolutions and
// attention, each counted once; what is recomputed is not.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sdk/backend/machine/machine_limits.h"
#include "sdk/backend/machine/machine_peak.h"
#include "sdk/core/number_text.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/compare_options.h"
#include "tests/benchmarks/compare_peer.h"
#include "tests/benchmarks/forked.h"
#include "tests/benchmarks/host_watch.h"
#include "tests/benchmarks/library_rates.h"
#include "tests/benchmarks/seconds.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Measured {
  double step_ms = 0;
  double forward_ms = 0;
  double peak_rss_mb = 0;
  double step_flops = 0;
  std::int64_t parameters = 0;
};

constexpr double kSeconds = 6;  // of steps, in each repetition
constexpr int kLeastSteps = 5;

// Returns the median over the runs in which the host of a shared machine did not take the cores
// away; after four times the seconds every run counts. peer.py does the same.
template <class Body>
double MedianMilliseconds(double seconds, const Body& body) {
  std::vector<double> times;
  const auto start = Clock::now();
  while (static_cast<int>(times.size()) < kLeastSteps || SecondsSince(start) < seconds) {
    const HostWatch watch;
    const auto begin = Clock::now();
    body();
    const double took = SecondsSince(begin);
    if (watch.WasQuiet(took) || SecondsSince(start) > 4 * seconds) times.push_back(1e3 * took);
  }
  return Median(times);
}

// GFLOP/s, the best of trials until the host let one run: a limit too low would flatter us.
template <class Measure>
double QuietRate(const Measure& measure) {
  double limit = 0;
  for (int trial = 0; trial < 5; ++trial) {
    const HostWatch watch;
    const auto begin = Clock::now();
    const auto one = InChildProcess(measure);
    limit = std::max(limit, one.value_or(0));
    if (watch.WasQuiet(SecondsSince(begin))) break;
  }
  return limit / 1e9;
}

DType ElementsOf(const std::string& computed) {
  return computed == "bf16" ? DType::kBF16 : DType::kF32;
}

double LimitOf(const std::string& computed) {
  return QuietRate([&] { return MeasureProductLimit(ElementsOf(computed), 1); });
}

double PeakOf(const std::string& computed) {
  return QuietRate([&] { return MeasureProductPeak(ElementsOf(computed), 0.2); });
}

Measured MeasureOurs(const Workload& workload, const CompareOptions& options, Precision precision) {
  TrainingMemoryConfig memory = PresetByName(options.preset);
  if (options.budget_mb > 0) memory.memory_budget_mb = MemoryBudget{.megabytes = options.budget_mb};
  Model model = BuilderFor(workload, memory, precision).Build();
  std::vector<std::int64_t> samples = FirstSamples(workload.batch);
  const auto step = [&] { model.TrainStep(samples); };
  step();
  step();
  Measured measured;
  measured.step_ms = MedianMilliseconds(kSeconds, step);
  measured.peak_rss_mb = static_cast<double>(PeakResidentBytes()) / (1 << 20);
  model.Evaluate();
  measured.forward_ms = MedianMilliseconds(kSeconds / 4, [&] { model.Evaluate(); });
  const StepPlan& plan = model.plan().steps.front();
  measured.step_flops = plan.flops - plan.recomputed_flops;
  measured.parameters = model.plan().parameter_count;
  return measured;
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

// Describes both sides, ours and PyTorch's, in one precision.
struct Side {
  std::string name;       // of our precision
  std::string peer_name;  // PyTorch's, in which products are computed
  Precision precision;
  double peak = 0;      // GFLOP/s
  bool rounds = false;  // PyTorch runs once more, with factors of f32 products rounded to bf16
};

struct PeerSamples {
  std::vector<double> steps, rss;
  std::int64_t parameters = 0;

  void Add(const Json& one) {
    if (!one.is_object()) return;
    steps.push_back(one.value("step_ms", 0.0));
    rss.push_back(one.value("peak_rss_mb", 0.0));
    parameters = one.value("parameters", std::int64_t{0});
  }
};

// All repetitions of a row.
struct Samples {
  std::vector<double> steps, forwards, rss;
  std::vector<double> limits;     // GFLOP/s of the best product, before or behind each, the higher
  std::vector<double> libraries;  // ms of the step's products in libraries, likewise the lower
  PeerSamples peer, rounding_peer;
  double flops = 0;
  std::int64_t parameters = 0;
};

// Returns none where they are not of f32 or where convolutions are more than a tenth of the step.
StepProducts LibraryProductsOf(const Workload& workload, const Side& side) {
  if (side.name != "f32") return {};
  const auto products = InChildProcess([&] { return ProductsOf(workload); });
  return products && products->other_flops <= 0.1 * products->Flops() ? *products : StepProducts();
}

// Milliseconds, of what is no product at the rate `limit`; infinity where there are no products.
double LibraryMilliseconds(const StepProducts& products, double limit) {
  if (products.count == 0) return HUGE_VAL;
  const auto seconds = InChildProcess([&] { return LibrarySeconds(products); });
  return 1e3 * seconds.value_or(HUGE_VAL) + products.other_flops / 1e6 / limit;
}

Samples Alternate(const Workload& workload, const Side& side, const Peer& peer,
                  const CompareOptions& options) {
  Samples samples;
  const StepProducts products = LibraryProductsOf(workload, side);
  for (int i = 0; i < options.repetitions; ++i) {
    const double before = LimitOf(side.peer_name);
    const double libraries = LibraryMilliseconds(products, before);
    const auto ours =
        InChildProcess([&] { return MeasureOurs(workload, options, side.precision); });
    if (ours) {
      samples.limits.push_back(std::max(before, LimitOf(side.peer_name)));
      samples.libraries.push_back(
          std::min(libraries, LibraryMilliseconds(products, samples.limits.back())));
      samples.steps.push_back(ours->step_ms);
      samples.forwards.push_back(ours->forward_ms);
      samples.rss.push_back(ours->peak_rss_mb);
      samples.flops = ours->step_flops;
      samples.parameters = ours->parameters;
    }
    const auto run_peer = [&](const std::string& precision) {
      std::ostringstream arguments;
      arguments << workload.name << " " << precision << " " << workload.batch;
      return peer.Run("peer.py", arguments.str());
    };
    samples.peer.Add(run_peer(side.peer_name));
    if (side.rounds) samples.rounding_peer.Add(run_peer("f32_bf16"));
  }
  return samples;
}

// Returns what stands beside our step's time and memory.
Json PeerCells(const PeerSamples& peer, double step, double rss) {
  return {{"peer_step_ms", Median(peer.steps)},
          {"ratio", Median(peer.steps) / step},
          {"peer_peak_rss_mb", Median(peer.rss)},
          {"rss_ratio", rss / Median(peer.rss)}};
}

Json RowOf(const Workload& workload, const Side& side, const Samples& samples) {
  const double step = Median(samples.steps);
  const double rss = Median(samples.rss);
  const double gflops = samples.flops / 1e6 / step;
  std::vector<double> shares, library_shares;
  for (std::size_t i = 0; i < samples.steps.size(); ++i) {
    shares.push_back(samples.flops / 1e6 / samples.steps[i] / samples.limits[i]);
    library_shares.push_back(samples.libraries[i] / samples.steps[i]);
  }
  Json row = {{"workload", workload.name},
              {"precision", side.name},
              {"parameters", samples.parameters},
              {"step_ms", step},
              {"forward_ms", Median(samples.forwards)},
              {"peak_rss_mb", rss},
              {"gflops", gflops},
              {"limit_gflops", Median(samples.limits)},
              {"share_of_limit", Median(shares)},
              {"peak_gflops", side.peak},
              {"share_of_peak", gflops / side.peak}};
  const double of_libraries = Median(library_shares);
  if (std::isfinite(of_libraries)) row["share_of_libraries"] = of_libraries;
  if (!samples.peer.steps.empty()) {
    row["peer_precision"] = side.peer_name;
    row["peer_parameters"] = samples.peer.parameters;
    row.update(PeerCells(samples.peer, step, rss));
  }
  if (!samples.rounding_peer.steps.empty()) {
    row["f32_bf16"] = PeerCells(samples.rounding_peer, step, rss);
  }
  return row;
}

void PrintHead() {
  std::printf("%-15s %-5s %9s %9s %8s %8s %7s %7s %7s %10s %8s %6s %6s\n", "workload", "",
              "step ms", "fwd ms", "RSS MB", "GFLOP/s", "limit", "library", "peak", "PyTorch ms",
              "RSS MB", "ratio", "RSS");
}

void PrintPeer(const Json& cells) {
  if (!cells.contains("ratio")) return;
  const auto number = [&](const char* key) { return cells[key].get<double>(); };
  std::printf(" %10.1f %8.0f %6.2f %6.2f", number("peer_step_ms"), number("peer_peak_rss_mb"),
              number("ratio"), number("rss_ratio"));
}

void PrintRow(const Json& row) {
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  const auto share = [&](const char* key) {
    return row.contains(key) ? FixedText(100 * number(key), 0) + "%" : std::string("-");
  };
  std::printf("%-15s %-5s %9.1f %9.1f %8.0f %8.0f %7s %7s %7s",
              row["workload"].get<std::string>().c_str(),
              row["precision"].get<std::string>().c_str(), number("step_ms"), number("forward_ms"),
              number("peak_rss_mb"), number("gflops"), share("share_of_limit").c_str(),
              share("share_of_libraries").c_str(), share("share_of_peak").c_str());
  PrintPeer(row);
  std::printf("\n");
  if (row.contains("f32_bf16")) {
    std::printf("%-82s", "                PyTorch with f32 products rounded to bf16");
    PrintPeer(row["f32_bf16"]);
    std::printf("\n");
  }
  std::fflush(stdout);
}

// Remarks go where they do not disturb the JSON.
void Remark(const CompareOptions& options, const std::string& text) {
  std::fprintf(options.json ? stderr : stdout, "%s\n", text.c_str());
}

// Both sides measure the same network only if it has as many parameters on both.
void CheckSameSize(const Json& row, const CompareOptions& options) {
  if (!row.contains("peer_parameters") || row["parameters"] == row["peer_parameters"]) return;
  Remark(options, "not the same network: " + row["parameters"].dump() + " parameters beside " +
                      row["peer_parameters"].dump() + " of PyTorch's");
}

std::vector<Side> SidesOf(const CompareOptions& options) {
  std::vector<Side> sides;
  for (const std::string& name : options.precisions) {
    const bool bf16 = name == "bf16";
    const bool widens = bf16 && !ComputesInBf16();
    if (widens && !options.precisions_given) {
      Remark(options, "bf16 is left out: this processor has no instructions for it");
      continue;
    }
    if (widens) {
      Remark(options,
             "this processor has no bf16 instructions: ours computes products in f32, and "
             "PyTorch runs in f32 beside it");
    }
    const bool splits = name == "f32x3";
    if (splits && !HasSplitProducts()) {
      Remark(options, "f32x3 is left out: this processor has no matrix tiles");
      continue;
    }
    const std::string computed = widens || splits ? "f32" : name;
    const Precision f32 = splits ? Precision::kF32x3 : Precision::kF32;
    sides.push_back({.name = name,
                     .peer_name = computed,
                     .precision = bf16 ? Precision::kBF16 : f32,
                     .peak = splits ? PeakOf("bf16") / 3 : PeakOf(computed)});
    Remark(options, "peak of this machine's instructions in " + computed +
                        (splits ? ", three products of bf16 each: " : ": ") +
                        std::to_string(std::lround(sides.back().peak)) +
                        " GFLOP/s on two cores; the best product is measured with each repetition");
  }
  return sides;
}

// Lets PyTorch run once more, with factors rounded to one bf16, beside our f32 of three bf16
// products or else beside f32, where it can.
void AddRounding(std::vector<Side>& sides, const Peer& peer, const CompareOptions& options) {
  const auto named = [&](const char* name) { return std::ranges::find(sides, name, &Side::name); };
  const auto side = named("f32x3") != sides.end() ? named("f32x3") : named("f32");
  if (side == sides.end() || !peer.exists()) return;
  const Json can = peer.Run("peer_products.py", "");
  side->rounds = can.is_object() && can.value("bf16", false);
  if (side->rounds) return;
  Remark(options, "f32 products rounded to bf16 are left out: " +
                      (can.is_object() ? can.value("why", "") : "PyTorch failed in trying"));
}

std::vector<Workload> ChosenFrom(const CompareOptions& options) {
  std::vector<Workload> chosen;
  for (Workload& workload : Workloads()) {
    const bool all = options.workloads.empty();
    if (all || std::ranges::count(options.workloads, workload.name) > 0) {
      chosen.push_back(std::move(workload));
      if (options.batch > 0) chosen.back().batch = options.batch;
    }
  }
  return chosen;
}

Json CompareAll(const std::vector<Workload>& workloads, const Peer& peer,
                const CompareOptions& options) {
  Remark(options, peer.settings() + (peer.exists() ? "" : " (ours alone)"));
  std::vector<Side> sides = SidesOf(options);
  AddRounding(sides, peer, options);
  // In a child, since the library may start threads.
  if (!InChildProcess([] { return OpenBlas().exists(); }).value_or(false)) {
    Remark(options, "libraries are oneDNN alone: OpenBLAS is not installed (libopenblas0-openmp)");
  }
  if (!options.json) PrintHead();
  Json rows = Json::array();
  for (const Workload& workload : workloads) {
    for (const Side& side : sides) {
      const Samples samples = Alternate(workload, side, peer, options);
      if (samples.steps.empty()) {
        Remark(options, workload.name + " in " + side.name + " did not run");
        continue;
      }
      rows.push_back(RowOf(workload, side, samples));
      if (!options.json) PrintRow(rows.back());
      CheckSameSize(rows.back(), options);
    }
  }
  return rows;
}

void Main(const CompareOptions& options) {
  PinToTwoCores();
  const double stolen = StolenSeconds();
  const Json rows = CompareAll(ChosenFrom(options), Peer(options.peer_root), options);
  Remark(options, "the host of this machine served others for " +
                      FixedText(StolenSeconds() - stolen, 1) +
                      " core seconds; steps that lost more than a fiftieth to it are not counted, "
                      "where there were others");
  if (options.json) std::cout << rows.dump(2) << std::endl;
}

}  // namespace
}  // namespace frugal

int main(int count, char** words) {
  return frugal::RunProgram([&] { frugal::Main(frugal::ReadCompareOptions(count, words)); });
}

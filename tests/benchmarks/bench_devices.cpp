// Devices that share the cores of this machine: a GPT on one device with all cores beside two
// devices with half of them each, by every schedule and as two replicas, in turn; and beside them
// what the plan predicts. Then all-reduce between two ranks beside a copy of as many bytes, and
// with these costs the scaling to 64 devices, simulated. Exits with 1 where a mesh comes to other
// losses than one device in as many groups.
//
//   bench_devices [--steps N] [--rounds N]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "builders/frugal.h"
#include "builders/plan/planner.h"
#include "builders/report/text/text_table.h"
#include "sdk/comm/thread_ranks.h"
#include "sdk/core/number_text.h"
#include "sdk/plan/mesh_prediction.h"
#include "tests/benchmarks/preset_models.h"
#include "tests/benchmarks/seconds.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMicroBatches = 4;

struct Way {
  std::string name;
  std::int64_t devices = 1;
  std::int64_t replicas = 1;
  std::optional<PipelineKind> schedule{};  // none: one micro-batch after the other
};

AiModelBuilder BuilderOf(const PresetModel& spec, const Way& way, std::int64_t threads) {
  TrainingMemoryConfig memory;
  memory.num_devices = way.devices;
  memory.sharding_strategy = ShardingStrategy::kMemoryBalanced;
  AiModelBuilder builder = BuilderFor(spec, memory);
  TrainingOptions training = builder.config().training;
  training.threads = threads;
  training.gradient_accumulation_steps = kMicroBatches / way.replicas;
  if (way.schedule) {
    memory.use_pipeline_parallelism = true;
    memory.micro_batch_count = kMicroBatches / way.replicas;
    training.gradient_accumulation_steps = 1;
  }
  ShardingOptions sharding;
  sharding.data_parallel = way.replicas;
  sharding.schedule = way.schedule.value_or(PipelineKind::k1F1B);
  return builder.Memory(memory).Training(training).Sharding(sharding);
}

struct Row {
  Way way;
  std::vector<double> seconds;  // of each round, the shortest step
  std::vector<double> losses;
  double predicted = 1;  // of the time of devices that never wait
};

// Time of the pipeline as simulated, as a ratio to the devices' mean work.
double PredictedRatio(const Plan& plan) {
  if (!plan.devices || plan.devices->stages == 1) return 1;
  return 1 / SharesOf(plan.devices->times).work;
}

void RunRound(const PresetModel& spec, Row& row, std::int64_t threads, int steps) {
  Model model = BuilderOf(spec, row.way, threads).Build();
  row.predicted = PredictedRatio(model.plan());
  row.losses.clear();
  double best = 1e9;
  for (int step = 0; step < steps; ++step) {
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < spec.batch; ++i) samples.push_back(step * spec.batch + i);
    const auto start = Clock::now();
    row.losses.push_back(model.TrainStep(samples).loss);
    const std::chrono::duration<double> taken = Clock::now() - start;
    if (step > 0) best = std::min(best, taken.count());
  }
  row.seconds.push_back(best);
}

double Best(const Row& row) { return std::ranges::min(row.seconds); }

void PrintRows(const std::vector<Row>& rows) {
  TextTable table;
  table.columns = {{"devices x threads"},
                   {"schedule"},
                   {"ms a step", true},
                   {"of one", true},
                   {"predicted", true}};
  for (const Row& row : rows) {
    const double ratio = Best(row) / Best(rows.front());
    const std::int64_t threads =
        std::max<std::int64_t>(1, std::thread::hardware_concurrency() / row.way.devices);
    table.rows.push_back({std::to_string(row.way.devices) + " x " + std::to_string(threads),
                          row.way.name, FixedText(Best(row) * 1e3, 1), FixedText(ratio, 2),
                          FixedText(row.predicted, 2)});
  }
  std::cout << ToText(table) << "\n";
}

// Seconds of an all-reduce of so many floats between two ranks, and of copying as many.
std::pair<double, double> AllReduceSeconds(std::int64_t floats) {
  double best = 1e9, copy = 1e9;
  RunThreadRanks(2, [&](Communicator& ranks) {
    SetThreadCount(1);
    std::vector<float> values(static_cast<std::size_t>(floats), 1.0F), other(values.size());
    for (int round = 0; round < 5; ++round) {
      ranks.Barrier("a round");
      const auto start = Clock::now();
      ranks.AllReduce({values.data(), floats, DType::kF32}, "a benchmark");
      const std::chrono::duration<double> reduced = Clock::now() - start;
      const auto begin = Clock::now();
      std::memcpy(other.data(), values.data(), values.size() * sizeof(float));
      const std::chrono::duration<double> copied = Clock::now() - begin;
      if (ranks.rank() != 0) continue;
      best = std::min(best, reduced.count());
      copy = std::min(copy, copied.count());
    }
  });
  return {best, copy};
}

void PrintScaling(const PresetModel& spec, const MeshSpeed& speed) {
  std::cout << "Simulated from " << FixedText(speed.flops / 1e9, 1) << " GFLOP/s a device, "
            << FixedText(speed.bytes / 1e9, 1) << " GB/s and " << FixedText(speed.latency * 1e6, 0)
            << " us a message, with 8 micro-batches of 2 samples for each replica:\n";
  TextTable table;
  table.columns = {{"devices", true},  {"mesh"},          {"batch", true},
                   {"s a step", true}, {"speedup", true}, {"efficiency", true},
                   {"bound by"}};
  double alone = 0;  // seconds of a sample
  for (const std::int64_t devices : {1, 2, 4, 8, 16, 32, 64}) {
    for (const std::int64_t stages : {1, 4}) {
      if (devices % stages != 0) continue;
      const std::int64_t replicas = devices / stages;
      AiModelBuilder builder = BuilderFor(spec, {});
      TrainingMemoryConfig memory;
      memory.num_devices = devices;
      memory.use_pipeline_parallelism = stages > 1;
      memory.micro_batch_count = 8;
      TrainingOptions training = builder.config().training;
      training.threads = 1;
      training.batch_size = 16 * replicas;
      if (stages == 1) training.gradient_accumulation_steps = 8;
      ShardingOptions sharding;
      sharding.data_parallel = replicas;
      builder.Memory(memory).Training(training).Sharding(sharding);
      DataLayout layout = spec.layout;
      layout.train_count = std::max(layout.train_count, training.batch_size);
      const PlannedTraining planned = PlanTraining(builder.config(), &layout, PlanPurpose::kPrint);
      MeshPrediction step;
      if (planned.plan.devices) {
        step = PredictStep(*planned.plan.devices, speed);
      } else {
        step.step = planned.plan.steps.front().flops / speed.flops;
        step.bound_by = "work";
      }
      const double sample = step.step / static_cast<double>(training.batch_size);
      if (devices == 1) alone = sample;
      table.rows.push_back(
          {std::to_string(devices),
           "data " + std::to_string(replicas) + ", pipeline " + std::to_string(stages),
           std::to_string(training.batch_size), FixedText(step.step, 3),
           FixedText(alone / sample, 2), PercentText(alone / sample / static_cast<double>(devices)),
           std::string(step.bound_by)});
    }
  }
  std::cout << ToText(table);
}

int Main(int steps, int rounds) {
  const PresetModel spec = PresetModels().front();
  const auto cores = static_cast<std::int64_t>(std::max(2U, std::thread::hardware_concurrency()));
  std::vector<Row> rows = {{{"-", 1, 1, {}}, {}, {}, 1},
                           {{"one after the other", 2, 1, {}}, {}, {}, 1},
                           {{"gpipe", 2, 1, PipelineKind::kGPipe}, {}, {}, 1},
                           {{"1f1b", 2, 1, PipelineKind::k1F1B}, {}, {}, 1},
                           {{"zb_h1", 2, 1, PipelineKind::kZeroBubble1}, {}, {}, 1},
                           {{"zb_h2", 2, 1, PipelineKind::kZeroBubble2}, {}, {}, 1},
                           {{"two replicas", 2, 2, {}}, {}, {}, 1}};
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) RunRound(spec, row, cores / row.way.devices, steps);
  }
  std::cout << spec.name << ", batch " << spec.batch << " in " << kMicroBatches
            << " micro-batches, " << cores << " cores\n";
  PrintRows(rows);
  bool same = true;
  for (std::size_t i = 2; i + 1 < rows.size(); ++i) same &= rows[i].losses == rows[1].losses;
  std::cout << (same ? "" : "LOSSES DIFFER between schedules\n");

  constexpr std::int64_t kFloats = 25'000'000;
  const auto [reduce, copy] = AllReduceSeconds(kFloats);
  const double small = AllReduceSeconds(2).first;
  std::cout << "all-reduce of 100 MB between two ranks: " << FixedText(reduce * 1e3, 1)
            << " ms; a copy of as many bytes on each: " << FixedText(copy * 1e3, 1)
            << " ms; of 8 bytes: " << FixedText(small * 1e6, 1) << " us\n\n";

  // A device of the two has half of the cores.
  const Plan plan = BuilderOf(spec, {"", 1, 1, {}}, cores / 2).Plan().plan;
  Row half = {{"", 1, 1, {}}, {}, {}, 1};
  RunRound(spec, half, cores / 2, steps);
  PrintScaling(spec, {.flops = plan.steps.front().flops / Best(half),
                      .bytes = 4.0 * kFloats / reduce,
                      .latency = small / 2});
  return same ? 0 : 1;
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  int steps = 4, rounds = 3;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--steps") steps = std::max(2, std::atoi(arguments[i + 1]));
    if (name == "--rounds") rounds = std::max(1, std::atoi(arguments[i + 1]));
  }
  return frugal::RunProgram([&] {
    if (frugal::Main(steps, rounds) != 0) throw frugal::Error("schedules came to other losses");
  });
}

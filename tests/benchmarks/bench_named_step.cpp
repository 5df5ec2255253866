// Trains two steps of a published model on random data, at full size, and prints its peak resident
// size beside the plan:
//   bench_named_step [NAME] [--set section.key=value ...]
// Without arguments: dit-xl-2 (675 million parameters), batch 2, within 12,000 MB.
#include <chrono>
#include <iostream>

#include "builders/main_guard.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "builders/run/model.h"
#include "samples/arguments.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/memory/system_memory.h"
#include "tests/benchmarks/random_samples.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the bytes that the process takes for tensors: those that live between steps, and the
// arena.
std::int64_t PlannedBytes(const Plan& plan) {
  if (plan.budget) return plan.budget->planned_bytes;
  std::int64_t outside = 0;
  for (const StepPlan& step : plan.steps) outside = std::max(outside, step.baseline.Total());
  return outside + plan.arena_bytes;
}

void Run(int count, char** arguments) {
  SampleArguments given = ReadArguments(count, arguments, "dit-xl-2");
  const std::string& name = given.file;
  std::vector<std::string>& overrides = given.overrides;
  if (count == 1) {
    overrides = {"training.batch_size=2", "memory.memory_budget_mb=12000"};
  }
  RunConfig config = NamedModelConfig(name, overrides);
  const DataLayout layout = LayoutWithoutData(config);
  PlannedTraining planned = PlanTraining(config, &layout);
  const std::int64_t bytes = PlannedBytes(planned.plan);
  const std::int64_t batch = planned.schedule.batch;
  std::cout << name << ", batch " << batch << ": " << FormatCount(planned.plan.parameter_count)
            << " parameters, " << FormatBytes(bytes) << " planned; making weights ..." << std::endl;
  const auto source = std::make_shared<RandomSamples>(layout, 2 * batch);
  Model model(std::move(planned), {source, source});
  std::vector<std::int64_t> samples = FirstSamples(batch);
  for (int step = 1; step <= 2; ++step) {
    const auto start = Clock::now();
    const StepResult result = model.TrainStep(samples);
    std::cout << "step " << step << ": loss " << FixedText(result.loss, 4) << ", "
              << DurationText(std::chrono::duration<double>(Clock::now() - start).count())
              << std::endl;
  }
  const MemoryMeasurement measured = model.Measured();
  const double share =
      100.0 * static_cast<double>(measured.peak_rss_bytes - bytes) / static_cast<double>(bytes);
  std::cout << "live at the peak " << FormatBytes(measured.peak_bytes) << " ("
            << FormatBytes(model.plan().peak_bytes) << " planned), peak resident "
            << FormatBytes(measured.peak_rss_bytes) << ": " << FixedText(share, 1)
            << "% over what is planned for tensors, gaps included" << std::endl;
}

}  // namespace
}  // namespace frugal

int main(int count, char** arguments) {
  return frugal::RunProgram([&] { frugal::Run(count, arguments); });
}

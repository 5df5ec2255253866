#include "builders/plan/cautions.h"

#include <thread>

#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

constexpr int kMostPerProcessor = 4;

void AddProductType(const TrainingSetup& setup, std::vector<std::string>& cautions) {
  if (!setup.backend || setup.backend->ProductType(setup.dtype()) == setup.dtype()) return;
  cautions.emplace_back(
      "precision = \"bf16\": this processor has no bf16 instructions that outrun f32's, so "
      "products and convolutions compute in f32 between two conversions: that saves memory, but no "
      "time");
}

void AddWarmUp(const TrainingSetup& setup, std::vector<std::string>& cautions) {
  const std::int64_t warmup = setup.config.schedule.warmup_steps;
  const std::int64_t steps = setup.schedule.total_steps;
  if (warmup <= steps) return;
  cautions.push_back("schedule.warmup_steps = " + std::to_string(warmup) + " is more than the " +
                     FormatCount(steps) +
                     " steps of this training: the learning rate never reaches its value");
}

void AddThreads(std::vector<std::string>& cautions) {
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  if (processors == 0 || ThreadCount() <= kMostPerProcessor * processors) return;
  cautions.push_back(FormatCount(ThreadCount()) + " threads take turns on " +
                     FormatCount(processors) +
                     " processors: each takes memory of its own, and none makes a step faster");
}

}  // namespace

std::vector<std::string> CautionsAbout(const TrainingSetup& setup) {
  std::vector<std::string> cautions;
  AddProductType(setup, cautions);
  AddWarmUp(setup, cautions);
  AddThreads(cautions);
  return cautions;
}

}  // namespace frugal

#include "builders/plan/least_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "builders/budget/candidate_planner.h"

namespace frugal {
namespace {

using std::int64_t;

constexpr int64_t kPlanned = 3;

// Bytes of a layer of the plan.
struct LayerBytes {
  int64_t kept = 0;
  int64_t output = 0;
};

std::vector<LayerBytes> BytesOf(const PlannedTraining& planned) {
  std::vector<LayerBytes> bytes;
  for (const LayerPlan& layer : planned.plan.layers) {
    bytes.push_back({.kept = layer.saved_bytes,
                     .output = layer.output.ElementCount() * SizeOf(planned.dtype())});
  }
  return bytes;
}

// Returns what is live at most by a rough count: the inputs of all runs, and all that one keeps.
int64_t Judge(const CheckpointSegments& runs, const std::vector<LayerBytes>& layers) {
  int64_t inputs = 0;
  int64_t largest = 0;
  for (const CheckpointSegment& run : runs) {
    int64_t kept = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) kept += layers[i].kept;
    largest = std::max(largest, kept);
    if (run.begin > 0) inputs += layers[run.begin - 1].output;
  }
  return inputs + largest;
}

// Plans runs, and keeps the least that it met.
class Search {
 public:
  explicit Search(const PlannedTraining& planned)
      : planned_(planned),
        planner_(planned),
        options_(CheckpointOptionsOf(planned.config.memory)),
        peak_(planned.plan.peak_bytes) {}

  void Try(int64_t every) {
    options_.every_n_layers = every;
    const int64_t peak =
        planner_.PlanRuns(SettingsOf(planned_.config), options_).footprint.peak_bytes;
    if (peak >= peak_) return;
    peak_ = peak;
    least_ = {.every_n_layers = every, .peak_bytes = peak};
  }

  const std::optional<RunsOfLayers>& least() const { return least_; }

 private:
  const PlannedTraining& planned_;
  CandidatePlanner planner_;
  CheckpointOptions options_;
  int64_t peak_;
  std::optional<RunsOfLayers> least_;
};

}  // namespace

std::optional<RunsOfLayers> LeastRunsOf(const PlannedTraining& planned, const SavedBytes& kept) {
  const TrainingMemoryConfig& memory = planned.config.memory;
  if (!memory.use_gradient_checkpointing || memory.memory_budget_mb || planned.stage ||
      HasManyLayers(planned) || memory.checkpoint_planning == CheckpointPlanning::kLeastPeak) {
    return std::nullopt;
  }
  const std::vector<LayerBytes> bytes = BytesOf(planned);
  const std::vector<Layer*> layers = ChainLayers(*planned.network);
  if (layers.size() != bytes.size()) return std::nullopt;
  CheckpointOptions options = CheckpointOptionsOf(memory);
  std::vector<std::pair<int64_t, int64_t>> judged;  // bytes, layers of a run
  for (int64_t every = 1; every <= std::ssize(layers); ++every) {
    if (every == memory.checkpoint_every_n_layers) continue;
    options.every_n_layers = every;
    judged.emplace_back(Judge(RunsOf(layers, options, kept), bytes), every);
  }
  std::ranges::sort(judged);
  Search search(planned);
  for (int64_t i = 0; i < std::min(kPlanned, std::ssize(judged)); ++i) {
    search.Try(judged[static_cast<std::size_t>(i)].second);
  }
  return search.least();
}

}  // namespace frugal

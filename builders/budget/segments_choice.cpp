#include "builders/budget/segments_choice.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "builders/budget/candidate_planner.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

using std::int64_t;

constexpr int kLimitsTried = 8;

// Returns true where nobody but a preset said how the network is cut.
bool MayCut(const RunConfig& config) {
  constexpr std::array<std::string_view, 4> kKeys = {
      "checkpoint_every_n_layers", "checkpoint_attention_layers", "checkpoint_residual_blocks",
      "high_activation_memory_threshold_bytes"};
  return std::ranges::none_of(kKeys, [&](std::string_view key) {
    return config.origins.Of("memory." + std::string(key)).IsExplicit();
  });
}

// Ways to cut the network, planned as far as their peaks.
class SegmentsSearch {
 public:
  explicit SegmentsSearch(const TrainingSetup& setup) : setup_(setup), planner_(setup) {
    choice_.settings = SettingsOf(setup.config);
    choice_.every_n_layers = setup.config.memory.checkpoint_every_n_layers;
  }

  SegmentsChoice Fastest() {
    TryRuns(choice_.every_n_layers);
    choice_.plan.stated_peak_bytes = peak_;
    tried_ = {PeakOf(Chain().keep_all())};
    TakeFastestWithin(peak_);
    return choice_;
  }

  SegmentsChoice LeastPeak() {
    if (FreeKnobsOf(setup_).optimizer_in_backward) {
      choice_.settings.optimizer_in_backward = choice_.plan.updates_in_backward = true;
    }
    if (!MayCut(setup_.config)) return choice_;
    const int64_t stated = choice_.every_n_layers;
    TryRuns(stated);
    choice_.plan.stated_peak_bytes = peak_;
    for (const int64_t every : {1, 2, 3}) {
      if (every != stated) TryRuns(every);
    }
    TryLeast();
    return choice_;
  }

 private:
  // Segments of a chain, not those of the fields.
  StepSettings ChainSettings() const {
    StepSettings settings = choice_.settings;
    settings.use_gradient_checkpointing = false;
    return settings;
  }

  ChainPlanner& Chain() {
    if (!chain_) chain_ = planner_.ChainByModel(ChainSettings());
    return *chain_;
  }

  // Takes runs of so many layers where their peak is the least so far.
  void TryRuns(int64_t every_n_layers) {
    CheckpointOptions options = CheckpointOptionsOf(setup_.config.memory);
    options.every_n_layers = every_n_layers;
    const BudgetCandidate runs = planner_.PlanRuns(choice_.settings, options);
    if (peak_ > 0 && runs.footprint.peak_bytes >= peak_) return;
    peak_ = runs.footprint.peak_bytes;
    choice_.every_n_layers = every_n_layers;
  }

  // Returns the planners whose schedules are tried: see ChainPlanner::AsIfKept.
  std::vector<ChainPlanner*> Chains() {
    std::vector<ChainPlanner*> chains = {&Chain()};
    if (!HasManyLayers(setup_) && Chain().AsIfKept()) chains.push_back(Chain().AsIfKept());
    return chains;
  }

  BudgetCandidate PeakOf(ChainChoice chain) {
    chain.cost = Chain().CostOf(chain.segments);
    return planner_.Plan(ChainSettings(), chain, 0);
  }

  // Takes the fastest schedule of the chain that is little above the least and no higher than runs.
  void TryLeast() {
    tried_ = {PeakOf(Chain().keep_all())};
    for (ChainPlanner* const chain : Chains()) tried_.push_back(PeakOf(chain->Least()));
    int64_t lowest = peak_;
    for (const BudgetCandidate& one : tried_) lowest = std::min(lowest, one.footprint.peak_bytes);
    TakeFastestWithin(std::min(peak_, lowest + lowest / 50));
  }

  void TakeFastestWithin(int64_t enough) {
    for (ChainPlanner* const chain : Chains()) TryFastestWithin(*chain, enough);
    std::erase_if(tried_,
                  [&](const BudgetCandidate& one) { return one.footprint.peak_bytes > enough; });
    if (tried_.empty()) return;
    Take(*std::ranges::min_element(tried_, {}, &BudgetCandidate::seconds));
  }

  // The model's bytes are off by a few, so the largest limit that does is searched for, in a few
  // steps, since each takes as long as a plan.
  void TryFastestWithin(ChainPlanner& chain, int64_t enough) {
    int64_t fitting = chain.Least().cost.peak_bytes;
    int64_t too_much = chain.keep_all().cost.peak_bytes;
    for (int i = 0; i < kLimitsTried && fitting < too_much; ++i) {
      const int64_t limit = fitting + (too_much - fitting) / 2;
      const auto choice = chain.Fastest(limit);
      if (choice) tried_.push_back(PeakOf(*choice));
      const bool fits = !choice || tried_.back().footprint.peak_bytes <= enough;
      (fits ? fitting : too_much) = limit;
    }
  }

  void Take(const BudgetCandidate& found) {
    choice_.segments = found.chain.segments;
    choice_.every_n_layers = 0;
  }

  const TrainingSetup& setup_;
  CandidatePlanner planner_;
  std::shared_ptr<ChainPlanner> chain_;
  SegmentsChoice choice_;
  std::vector<BudgetCandidate> tried_;
  int64_t peak_ = 0;  // the least of runs
};

}  // namespace

std::optional<SegmentsChoice> ChooseSegments(const TrainingSetup& setup) {
  const TrainingMemoryConfig& memory = setup.config.memory;
  if (!memory.use_gradient_checkpointing || memory.memory_budget_mb || setup.stage) {
    return std::nullopt;
  }
  if (memory.checkpoint_planning == CheckpointPlanning::kAsStated) return std::nullopt;
  const bool least = memory.checkpoint_planning == CheckpointPlanning::kLeastPeak;
  std::optional<SegmentsChoice> choice;
  {
    SegmentsSearch search(setup);
    choice = least ? search.LeastPeak() : search.Fastest();
  }
  ReturnFreeMemory();  // tables of the search; the heap would keep what it had at most
  return choice;
}

}  // namespace frugal

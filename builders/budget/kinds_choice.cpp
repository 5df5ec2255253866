#include "builders/budget/kinds_choice.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "builders/budget/candidate_planner.h"

namespace frugal {
namespace {

using std::int64_t;

// Planning a few more ways of so many layers is cheap.
constexpr std::size_t kFewLayers = 32;

// Returns true where one run keeps a good part of all that the network does; else runs are small
// beside what they save.
bool HasLargeRun(const TrainingSetup& setup, const CheckpointOptions& options,
                 const SavedBytes& kept) {
  const std::vector<Layer*> layers = ChainLayers(*setup.network);
  const auto bytes_of = [&](std::size_t i) {
    const auto found = kept.find(layers[i]->path());
    return found == kept.end() ? 0 : found->second;
  };
  int64_t all = 0;
  int64_t largest = 0;
  for (const CheckpointSegment& run : RunsOf(layers, options, kept)) {
    int64_t bytes = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) bytes += bytes_of(i);
    largest = std::max(largest, bytes);
    all += bytes;
  }
  return largest > all / 3;
}

bool Holds(const Module& module, std::initializer_list<LayerKind> kinds) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  if (layer != nullptr && std::ranges::find(kinds, layer->kind()) != kinds.end()) return true;
  return std::ranges::any_of(
      module.children(), [&](const Module::Child& child) { return Holds(*child.module, kinds); });
}

class KindsSearch {
 public:
  KindsSearch(const TrainingSetup& setup, const CheckpointOptions& stated)
      : planner_(setup), settings_(SettingsOf(setup.config)), stated_(stated) {}

  struct Found {
    CheckpointOptions options;
    int64_t peak = 0;
  };

  // Returns the least of what these kinds allow; all of it wins where less takes no less.
  const Found& Best(bool attention, bool residual) {
    const auto [at, is_new] = best_.try_emplace({attention, residual});
    Found& best = at->second;
    if (!is_new) return best;
    CheckpointOptions options = stated_;
    options.attention_layers = attention;
    options.residual_blocks = residual;
    const Found plain = Planned(options);
    std::vector<Found> all;
    if (residual) all.push_back(Best(attention, false));
    if (attention) all.push_back(Best(false, residual));
    const auto least = [&] { return *std::ranges::min_element(all, {}, &Found::peak); };
    if (all.empty() || plain.peak <= least().peak) return best = plain;
    if (residual) {
      options.nested_blocks = true;
      all.push_back(Planned(options));
    }
    return best = least();
  }

 private:
  Found Planned(const CheckpointOptions& options) {
    return {options, planner_.PlanRuns(settings_, options).footprint.peak_bytes};
  }

  CandidatePlanner planner_;
  StepSettings settings_;
  CheckpointOptions stated_;
  std::map<std::pair<bool, bool>, Found> best_;
};

}  // namespace

std::optional<CheckpointOptions> ChooseKinds(const TrainingSetup& setup, const SavedBytes& kept) {
  CheckpointOptions stated = CheckpointOptionsOf(setup.config.memory);
  if (!stated.enabled || setup.stage || HasManyLayers(setup)) return std::nullopt;
  if (setup.config.memory.memory_budget_mb) return std::nullopt;
  stated.attention_layers &= Holds(*setup.network, {LayerKind::kAttention});
  stated.residual_blocks &= Holds(*setup.network, {LayerKind::kResidual, LayerKind::kBlock});
  if (!stated.attention_layers && !stated.residual_blocks) return std::nullopt;
  if (ChainLayers(*setup.network).size() > kFewLayers && !HasLargeRun(setup, stated, kept)) {
    return std::nullopt;
  }
  KindsSearch search(setup, stated);
  const CheckpointOptions& best =
      search.Best(stated.attention_layers, stated.residual_blocks).options;
  const bool is_stated = best.attention_layers == stated.attention_layers &&
                         best.residual_blocks == stated.residual_blocks && !best.nested_blocks;
  return is_stated ? std::nullopt : std::optional(best);
}

}  // namespace frugal

#include "builders/budget/budget_search.h"

#include <algorithm>
#include <limits>

#include "builders/budget/chain_search.h"
#include "builders/budget/stage_times.h"
#include "builders/dry_training.h"
#include "builders/kept_bytes.h"
#include "sdk/core/error.h"
#include "sdk/ops/vocabulary_loss.h"

namespace frugal {
namespace {

using std::int64_t;

// Rows of logits of a type that the loss would take at a time by itself.
int64_t UsualChunkRows(const Blueprint& blueprint, int64_t samples, DType dtype) {
  const auto projection = ProjectionForLoss(blueprint.step_parts());
  const int64_t rows = samples * blueprint.layout.label_shape.ElementCount();
  return ChunkRows(rows, projection->weight->shape[0], dtype);
}

bool IsFaster(const BudgetCandidate& one, const std::optional<BudgetCandidate>& other) {
  return !other || one.seconds < other->seconds;
}

// The same but for a loss that takes fewer rows at a time, which needs no more memory.
bool IsFiner(const BudgetSettings& one, const BudgetSettings& other) {
  return one.accumulate == other.accumulate && other.loss_chunk_rows &&
         one.loss_chunk_rows < other.loss_chunk_rows;
}

}  // namespace

BudgetSearch::BudgetSearch(Blueprint& blueprint, int64_t budget_bytes)
    : blueprint_(blueprint),
      stated_(blueprint.config),
      budget_bytes_(budget_bytes),
      free_(FreeKnobsOf(blueprint)) {
  BudgetSettings settings = SettingsOf(stated_);
  if (free_.segments != FreeKnobs::Segments::kAsStated) settings.use_gradient_checkpointing = false;
  constexpr int64_t kAnyPlace = std::numeric_limits<int64_t>::max();
  unconstrained_ = Whole(Try(settings, {}, kAnyPlace), kAnyPlace);
  if (free_.segments == FreeKnobs::Segments::kAny) {
    SetUnconstrainedTime(PlannerFor(settings, false).keep_all(), settings);
  }
}

void BudgetSearch::SetUnconstrainedTime(const ChainChoice& keep_all,
                                        const BudgetSettings& settings) {
  unconstrained_.chain = keep_all;
  unconstrained_.seconds = keep_all.cost.seconds * static_cast<double>(settings.accumulate);
}

// Knobs that cost no time and change no bit.
BudgetSettings BudgetSearch::Frugal() const {
  BudgetSettings settings = unconstrained_.settings;
  if (free_.optimizer_in_backward) settings.optimizer_in_backward = true;
  return settings;
}

// Halvings of the rows that the loss would take by itself, the coarsest first, down to an eighth of
// those of f32.
std::vector<int64_t> BudgetSearch::ChunkRowsFor(int64_t accumulate) const {
  std::vector<int64_t> chunks;
  if (!free_.loss_chunk_rows) return chunks;
  const int64_t samples = MicroBatchSize(blueprint_.program.batch, accumulate, 0);
  const int64_t usual = UsualChunkRows(blueprint_, samples, blueprint_.dtype());
  const int64_t least = std::max<int64_t>(16, UsualChunkRows(blueprint_, samples, DType::kF32) / 8);
  for (int64_t rows = usual / 2; rows >= least; rows /= 2) {
    chunks.push_back(rows);
  }
  return chunks;
}

std::vector<BudgetSettings> BudgetSearch::RoundingSettings() const {
  const int64_t batch = blueprint_.program.batch;
  std::vector<int64_t> parts = {unconstrained_.settings.accumulate};
  if (free_.accumulate) {
    for (int64_t i = 2; i < batch; i *= 2) parts.push_back(i);
    if (batch > 1) parts.push_back(batch);
  }
  std::vector<BudgetSettings> all;
  for (const int64_t accumulate : parts) {
    BudgetSettings settings = Frugal();
    settings.accumulate = accumulate;
    if (accumulate != parts.front()) all.push_back(settings);
    for (const int64_t rows : ChunkRowsFor(accumulate)) {
      settings.loss_chunk_rows = rows;
      all.push_back(settings);
    }
  }
  return all;
}

BudgetSettings BudgetSearch::WithEvaluationThatFits(BudgetSettings settings) {
  if (!free_.evaluation_batch) return settings;
  const int64_t outside = Try(settings, {}, 0).footprint.outside_bytes;
  while (settings.evaluation_batch > 1) {
    Force(settings);
    if (outside + meter_.MeasureEvaluation(blueprint_).arena_bytes <= budget_bytes_) break;
    settings.evaluation_batch = (settings.evaluation_batch + 1) / 2;
  }
  return settings;
}

void BudgetSearch::Force(const BudgetSettings& settings) {
  Apply(stated_, settings, blueprint_);
  SetPolicySegments(blueprint_,
                    settings.use_gradient_checkpointing ? MeasureKept(blueprint_) : KeptBytes());
  blueprint_.final_after = Contributions();
}

const std::vector<int>& BudgetSearch::Contributions() {
  const RunConfig& config = blueprint_.config;
  const auto [found, is_new] =
      contributions_.try_emplace({config.memory.optimizer_in_backward, blueprint_.program.batch,
                                  config.training.accumulate, config.training.loss_chunk_rows});
  if (is_new) found->second = ContributionsFor(blueprint_);
  return found->second;
}

BudgetCandidate BudgetSearch::Try(const BudgetSettings& settings, const ChainChoice& chain,
                                  int64_t place_up_to) {
  ++tried_;
  progress_.Tell([&] {
    return "looking for what fits the memory budget; " + std::to_string(tried_) + " ways planned";
  });
  BudgetCandidate candidate{settings, chain, {}};
  candidate.seconds = chain.cost.seconds * static_cast<double>(settings.accumulate);
  candidate.footprint = settings.accumulate > kTellingParts
                            ? MeasureTellingParts(settings, chain, place_up_to)
                            : Measure(settings, chain, StepsOf(blueprint_.program), place_up_to);
  return candidate;
}

Footprint BudgetSearch::Measure(const BudgetSettings& settings, const ChainChoice& chain,
                                std::span<const PlannedStep> steps, int64_t place_up_to) {
  Force(settings);
  if (!chain.segments.empty()) blueprint_.network->SetLeafSegments(chain.segments);
  const Footprint footprint = meter_.Measure(blueprint_, steps, place_up_to);
  blueprint_.network->SetSegments({});
  return footprint;
}

Footprint BudgetSearch::MeasureTellingParts(const BudgetSettings& settings,
                                            const ChainChoice& chain, int64_t place_up_to) {
  std::vector<PlannedStep> steps = StepsOf(blueprint_.program);
  for (PlannedStep& step : steps) {
    if (step.kind == StepKind::kTrain) step.batch = TellingBatch(step.batch, settings.accumulate);
  }
  BudgetSettings telling = settings;
  telling.accumulate = kTellingParts;
  const int64_t batch = blueprint_.program.batch;
  blueprint_.program.batch = TellingBatch(batch, settings.accumulate);
  const Footprint footprint = Measure(telling, chain, steps, place_up_to);
  blueprint_.program.batch = batch;
  return footprint;
}

// With the layout of all parts of a batch too.
BudgetCandidate BudgetSearch::Whole(BudgetCandidate candidate, int64_t place_up_to) {
  if (candidate.settings.accumulate <= kTellingParts) return candidate;
  if (candidate.footprint.bytes > place_up_to) return candidate;
  const int64_t telling = candidate.footprint.bytes;
  candidate.footprint =
      Measure(candidate.settings, candidate.chain, StepsOf(blueprint_.program), place_up_to);
  candidate.footprint.bytes = std::max(candidate.footprint.bytes, telling);
  return candidate;
}

ChainPlanner BudgetSearch::PlannerFor(const BudgetSettings& settings, bool measure) {
  Force(settings);
  std::vector<Stage> stages = MeasureStages(blueprint_);
  ModelTimes(blueprint_.dtype(), stages);
  if (measure && stated_.memory.planner_costs == PlannerCosts::kMeasured) {
    TakeTimes(settings, stages);
  }
  return ChainPlanner(ChainOf(stages));
}

// Runs the stages on as many samples as leave them within half the budget (the heap may need twice
// what it gives), and takes the whole part of the batch for as many times longer as it has more.
// Where not even one sample leaves them there, the times stay the model's.
void BudgetSearch::TakeTimes(BudgetSettings settings, std::vector<Stage>& stages) {
  const int64_t batch = blueprint_.program.batch;
  const int64_t fewest = HasBatchStatistics(blueprint_) || MixesSamples(blueprint_) ? 2 : 1;
  const int64_t all = MicroBatchSize(batch, settings.accumulate, 0);
  std::vector<Stage> run = stages;
  int64_t samples = all;
  while (2 * BytesToRun(run) > budget_bytes_) {
    const int64_t parts = std::min(2 * settings.accumulate, batch / fewest);
    if (parts <= settings.accumulate) return;
    settings.accumulate = parts;
    samples = MicroBatchSize(batch, parts, 0);
    Force(settings);
    run = MeasureStages(blueprint_);
  }
  MeasureTimes(blueprint_, run);
  const double longer = static_cast<double>(all) / static_cast<double>(samples);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].layer == nullptr) continue;  // the loss, which always runs once
    stages[i].chain.forward_seconds = longer * run[i].chain.forward_seconds;
    stages[i].chain.backward_seconds = longer * run[i].chain.backward_seconds;
  }
}

const std::vector<BudgetCandidate>& BudgetSearch::SmallOnes(const BudgetSettings& settings) {
  std::vector<BudgetCandidate>& tried = small_[settings];
  if (!tried.empty()) return tried;
  tried.push_back(Try(settings, {}, 0));
  if (free_.segments == FreeKnobs::Segments::kPolicyOrNone) {
    BudgetSettings policy = settings;
    policy.use_gradient_checkpointing = true;
    tried.push_back(Try(policy, {}, 0));
  }
  if (free_.segments == FreeKnobs::Segments::kAny) {
    ChainPlanner planner = PlannerFor(settings, false);
    tried.push_back(Try(settings, planner.Least(), 0));
    std::vector<ChainChoice> known = planner.known();
    std::ranges::sort(known, {}, [](const ChainChoice& one) { return one.cost.peak_bytes; });
    for (std::size_t i = 0; i < std::min<std::size_t>(3, known.size()); ++i) {
      tried.push_back(Try(settings, known[i], 0));
    }
  }
  std::ranges::stable_sort(tried, {},
                           [](const BudgetCandidate& one) { return one.footprint.peak_bytes; });
  return tried;
}

// What may fit is planned whole, until one does.
BudgetCandidate BudgetSearch::LeastOf(const BudgetSettings& settings, int64_t place_up_to) {
  std::optional<BudgetCandidate> first;
  for (const BudgetCandidate& one : SmallOnes(settings)) {
    if (one.footprint.peak_bytes > place_up_to) break;
    BudgetCandidate placed = Try(one.settings, one.chain, place_up_to);
    if (placed.footprint.bytes <= place_up_to) return placed;
    if (!first) first = std::move(placed);
  }
  return first ? *first : SmallOnes(settings).front();
}

BudgetCandidate BudgetSearch::Least() {
  BudgetSettings frugal = Frugal();
  if (free_.evaluation_batch) frugal.evaluation_batch = 1;
  BudgetCandidate least = LeastOf(frugal, 0);
  const std::vector<BudgetSettings> all = RoundingSettings();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && IsFiner(all[i + 1], all[i])) continue;
    // Of the numbers of parts, the stated one and the largest: memory falls with each more.
    const bool stated = all[i].accumulate == unconstrained_.settings.accumulate;
    if (!stated && all[i].accumulate < all.back().accumulate) continue;
    BudgetSettings settings = all[i];
    settings.evaluation_batch = frugal.evaluation_batch;
    BudgetCandidate candidate = LeastOf(settings, 0);
    if (candidate.footprint.peak_bytes < least.footprint.peak_bytes) least = std::move(candidate);
  }
  constexpr int64_t kAnyPlace = std::numeric_limits<int64_t>::max();
  return Whole(Try(least.settings, least.chain, kAnyPlace), kAnyPlace);
}

std::optional<BudgetCandidate> BudgetSearch::FastestFixed(BudgetSettings settings) {
  const BudgetCandidate stated = Whole(Try(settings, {}), budget_bytes_);
  if (Fits(stated)) return stated;
  if (free_.segments != FreeKnobs::Segments::kPolicyOrNone) return std::nullopt;
  settings.use_gradient_checkpointing = true;
  const BudgetCandidate policy = Whole(Try(settings, {}), budget_bytes_);
  return Fits(policy) ? std::optional(policy) : std::nullopt;
}

std::optional<BudgetCandidate> BudgetSearch::FastestChain(const BudgetSettings& settings) {
  ChainPlanner planner = PlannerFor(settings, true);
  // Measured times compare with measured ones.
  if (stated_.memory.planner_costs == PlannerCosts::kMeasured) {
    SetUnconstrainedTime(planner.keep_all(), settings);
  }
  ChainSearch search(planner, budget_bytes_,
                     [&](const ChainChoice& choice) { return Try(settings, choice); });
  if (auto found = search.Fastest()) {
    BudgetCandidate fastest = Whole(*std::move(found), budget_bytes_);
    if (Fits(fastest)) return fastest;
  }
  BudgetCandidate least = Whole(LeastOf(settings, budget_bytes_), budget_bytes_);
  if (!Fits(least)) return std::nullopt;
  least.chain.cost = planner.CostOf(least.chain.segments);
  least.seconds = least.chain.cost.seconds * static_cast<double>(settings.accumulate);
  const BudgetCandidate faster = Whole(search.FasterThan(least), budget_bytes_);
  return Fits(faster) ? faster : least;
}

std::optional<BudgetCandidate> BudgetSearch::FastestOf(const BudgetSettings& settings) {
  const BudgetSettings fitting = WithEvaluationThatFits(settings);
  return free_.segments == FreeKnobs::Segments::kAny ? FastestChain(fitting)
                                                     : FastestFixed(fitting);
}

// Whether even the least that is known of these settings is far above the budget.
bool BudgetSearch::IsHopeless(BudgetSettings settings) {
  if (free_.evaluation_batch) settings.evaluation_batch = 1;
  return LeastOf(settings, 0).footprint.peak_bytes > budget_bytes_ + budget_bytes_ / 8;
}

std::optional<BudgetCandidate> BudgetSearch::Fastest() {
  if (Fits(unconstrained_)) return unconstrained_;
  // Weights, the optimizer's state and data are there whatever is chosen.
  if (Try(Frugal(), {}, 0).footprint.outside_bytes > budget_bytes_) return std::nullopt;
  if (auto exact = FastestOf(Frugal())) return exact;
  return FastestRounded();
}

std::optional<BudgetCandidate> BudgetSearch::FasterRounded(const BudgetCandidate& exact) {
  constexpr double kSlow = 1.15, kFaster = 0.95;
  const bool looks = !Rounds(exact) && exact.seconds > kSlow * unconstrained_.seconds &&
                     blueprint_.network->Leaves().size() <= kFewStages &&
                     stated_.memory.planner_costs == PlannerCosts::kModel;
  if (!looks) return std::nullopt;
  std::optional<BudgetCandidate> rounded;
  try {
    rounded = FastestRounded();
  } catch (const Error&) {  // no way to train, so none to name
    return std::nullopt;
  }
  return rounded && rounded->seconds < kFaster * exact.seconds ? rounded : std::nullopt;
}

bool BudgetSearch::Rounds(const BudgetCandidate& candidate) const {
  return candidate.settings.accumulate != unconstrained_.settings.accumulate ||
         candidate.settings.loss_chunk_rows != unconstrained_.settings.loss_chunk_rows;
}

std::optional<BudgetCandidate> BudgetSearch::FastestRounded() {
  // These change how sums are rounded, so measured times, which vary, must not choose among them.
  const bool measured = stated_.memory.planner_costs == PlannerCosts::kMeasured;
  constexpr int64_t kMoreParts = 4;  // many more than needed are never faster
  std::optional<BudgetCandidate> first, best;
  const std::vector<BudgetSettings> all = RoundingSettings();
  // Of more parts of a batch than are stated, the most take the least.
  const bool in_parts_too = !all.empty() && !IsHopeless(all.back());
  for (const BudgetSettings& settings : all) {
    if (settings.accumulate != unconstrained_.settings.accumulate && !in_parts_too) break;
    if (first && settings.accumulate > kMoreParts * first->settings.accumulate) break;
    if (IsHopeless(settings)) continue;
    auto candidate = FastestOf(settings);
    if (!candidate) continue;
    if (measured) return candidate;
    if (!first) first = candidate;
    if (IsFaster(*candidate, best)) best = std::move(candidate);
  }
  return best;
}

}  // namespace frugal

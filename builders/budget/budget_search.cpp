#include "builders/budget/budget_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "builders/budget/frontier_search.h"
#include "sdk/core/error.h"
#include "sdk/ops/vocabulary_loss.h"
#include "sdk/plan/chain_bound.h"

namespace frugal {
namespace {

using std::int64_t;

// Rows of logits of a type that the loss would take at a time by itself.
int64_t UsualChunkRows(const TrainingSetup& setup, int64_t samples, DType dtype) {
  const auto projection = ProjectionForLoss(StepPartsOf(setup, SettingsOf(setup.config), {}));
  const int64_t rows = samples * setup.layout.label_shape.ElementCount();
  return ChunkRows(rows, projection->weight->shape[0], dtype);
}

bool IsFaster(const BudgetCandidate& one, const std::optional<BudgetCandidate>& other) {
  return !other || one.seconds < other->seconds;
}

// Returns the bytes of all gradients that updates in the backward pass free; 0 where none run
// there.
int64_t UpdatedBytes(const TrainingSetup& setup, const Trial& trial) {
  if (!trial.updates_in_backward()) return 0;
  int64_t bytes = 0;
  for (const Parameter* parameter : setup.parameters) {
    const auto number = static_cast<std::size_t>(parameter->index);
    if (trial.final_after.at(number) == 0) continue;
    bytes += parameter->shape.ElementCount() * SizeOf(MasterType(setup.dtype()));
  }
  return bytes;
}

// Returns true where `one` has as many parts as `other` and a loss that takes fewer rows at a time,
// which needs no more memory.
bool IsFiner(const StepSettings& one, const StepSettings& other) {
  return one.micro_batches == other.micro_batches && other.loss_chunk_rows &&
         one.loss_chunk_rows < other.loss_chunk_rows;
}

}  // namespace

BudgetSearch::BudgetSearch(const TrainingSetup& setup, int64_t budget_bytes)
    : BudgetSearch(setup, budget_bytes, SettingsOf(setup.config)) {}

BudgetSearch::BudgetSearch(const TrainingSetup& setup, int64_t budget_bytes,
                           const StepSettings& stated, std::shared_ptr<MeasuredCosts> measured)
    : setup_(setup),
      costs_(setup.config.memory.planner_costs),
      budget_bytes_(budget_bytes),
      free_(FreeKnobsOf(setup)),
      stated_(stated),
      planner_(setup, std::move(measured)) {
  if (free_.segments != FreeKnobs::Segments::kAsStated) stated_.use_gradient_checkpointing = false;
}

const BudgetCandidate& BudgetSearch::unconstrained() {
  if (unconstrained_) return *unconstrained_;
  unconstrained_ = Placed(stated_, {});
  if (free_.segments == FreeKnobs::Segments::kAny) {
    SetUnconstrainedTime(planner_.ChainByModel(stated_)->keep_all(), stated_);
  }
  return *unconstrained_;
}

BudgetCandidate BudgetSearch::Placed(const StepSettings& settings, const ChainChoice& chain) {
  return planner_.Plan(settings, chain, std::numeric_limits<int64_t>::max());
}

void BudgetSearch::SetUnconstrainedTime(const ChainChoice& keep_all, const StepSettings& settings) {
  unconstrained_->chain = keep_all;
  unconstrained_->seconds = keep_all.cost.seconds * static_cast<double>(settings.micro_batches);
}

// Knobs that cost no time and change no bit.
StepSettings BudgetSearch::ExactSettings() const {
  StepSettings settings = stated_;
  if (free_.optimizer_in_backward) settings.optimizer_in_backward = true;
  return settings;
}

// Halvings of the rows that the loss would take by itself, the coarsest first, down to an eighth of
// those of f32.
std::vector<int64_t> BudgetSearch::ChunkRowsFor(int64_t micro_batches) const {
  std::vector<int64_t> chunks;
  if (!free_.loss_chunk_rows) return chunks;
  const int64_t samples = MicroBatchSize(setup_.schedule.batch, micro_batches, 0);
  const int64_t usual = UsualChunkRows(setup_, samples, setup_.dtype());
  const int64_t least = std::max<int64_t>(16, UsualChunkRows(setup_, samples, DType::kF32) / 8);
  for (int64_t rows = usual / 2; rows >= least; rows /= 2) {
    chunks.push_back(rows);
  }
  return chunks;
}

std::vector<StepSettings> BudgetSearch::RoundingSettings() const {
  const int64_t batch = setup_.schedule.batch;
  std::vector<int64_t> parts = {stated_.micro_batches};
  if (free_.micro_batches) {
    for (int64_t i = 2; i < batch; i *= 2) parts.push_back(i);
    if (batch > 1) parts.push_back(batch);
  }
  std::vector<StepSettings> all;
  for (const int64_t micro_batches : parts) {
    StepSettings settings = ExactSettings();
    settings.micro_batches = micro_batches;
    if (micro_batches != parts.front()) all.push_back(settings);
    for (const int64_t rows : ChunkRowsFor(micro_batches)) {
      settings.loss_chunk_rows = rows;
      all.push_back(settings);
    }
  }
  return all;
}

StepSettings BudgetSearch::WithEvaluationThatFits(StepSettings settings) {
  if (!free_.evaluation_batch) return settings;
  const int64_t outside = Plan(settings, {}).footprint.outside.Total();
  while (settings.evaluation_batch > 1) {
    if (outside + planner_.PlanEvaluation(settings).arena_bytes <= budget_bytes_) break;
    settings.evaluation_batch = (settings.evaluation_batch + 1) / 2;
  }
  return settings;
}

std::vector<ChainChoice> BudgetSearch::SmallChains(const StepSettings& settings) {
  const std::shared_ptr<ChainPlanner> chain = planner_.ChainByModel(settings);
  std::vector<ChainChoice> known = chain->known();
  std::ranges::sort(known, {}, [](const ChainChoice& one) { return one.cost.peak_bytes; });
  known.resize(std::min<std::size_t>(3, known.size()));
  known.insert(known.begin(), chain->Least());
  if (!IsDeep()) {
    if (ChainPlanner* const kept = chain->AsIfKept()) known.push_back(kept->Least());
    return known;
  }
  // Each takes long to plan: none that the model, which is off by a few bytes, puts far above.
  const int64_t least = known.front().cost.peak_bytes;
  std::erase_if(known,
                [&](const ChainChoice& one) { return one.cost.peak_bytes > least / 20 * 21; });
  return known;
}

bool BudgetSearch::IsDeep() const { return HasManyLayers(setup_); }

const std::vector<BudgetCandidate>& BudgetSearch::CandidatesByPeak(const StepSettings& settings) {
  std::vector<BudgetCandidate>& tried = small_[settings];
  if (!tried.empty()) return tried;
  // In a network of many layers, running none again never takes the least.
  if (free_.segments != FreeKnobs::Segments::kAny || !IsDeep()) {
    tried.push_back(planner_.Plan(settings, {}, 0));
  }
  if (free_.segments == FreeKnobs::Segments::kPolicyOrNone) {
    StepSettings policy = settings;
    policy.use_gradient_checkpointing = true;
    tried.push_back(planner_.Plan(policy, {}, 0));
  }
  if (free_.segments == FreeKnobs::Segments::kAny) {
    for (const ChainChoice& choice : SmallChains(settings)) {
      tried.push_back(planner_.Plan(settings, choice, 0));
    }
  }
  std::ranges::stable_sort(tried, {},
                           [](const BudgetCandidate& one) { return one.footprint.peak_bytes; });
  return tried;
}

// Makes whole plans of the candidates that may fit, until one does.
BudgetCandidate BudgetSearch::SmallestOf(const StepSettings& settings, int64_t place_up_to) {
  std::optional<BudgetCandidate> first;
  for (const BudgetCandidate& one : CandidatesByPeak(settings)) {
    if (one.footprint.peak_bytes > place_up_to) break;
    BudgetCandidate placed = planner_.Plan(one.settings, one.chain, place_up_to);
    if (placed.footprint.bytes <= place_up_to) return placed;
    if (!first) first = std::move(placed);
  }
  return first ? *first : CandidatesByPeak(settings).front();
}

// Weights, the optimizer's state and data are there whatever is chosen. Where updates run in the
// backward pass, gradients are not, but of a batch in several parts all are, before the last; in a
// first and only step there is no state yet.
int64_t BudgetSearch::LowerBound(const StepSettings& settings) {
  return Floor().outside.Total() + (settings.micro_batches > 1 ? Floor().gradient_bytes : 0);
}

const BudgetSearch::LeastBytes& BudgetSearch::Floor() {
  if (floor_) return *floor_;
  floor_ = LeastBytes{.outside = planner_.OutsideSteps(ExactSettings())};
  if (setup_.schedule.total_steps > 1) {
    floor_->gradient_bytes = UpdatedBytes(setup_, planner_.TrialOf(ExactSettings()));
  }
  return *floor_;
}

const BudgetCandidate& BudgetSearch::Least() {
  if (!least_) least_ = Placed(LeastByPeak().settings, LeastByPeak().chain);
  return *least_;
}

const BudgetCandidate& BudgetSearch::LeastByPeak() {
  if (least_by_peak_) return *least_by_peak_;
  StepSettings frugal = ExactSettings();
  if (free_.evaluation_batch) frugal.evaluation_batch = 1;
  BudgetCandidate least = SmallestOf(frugal, 0);
  const std::vector<StepSettings> all = RoundingSettings();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && IsFiner(all[i + 1], all[i])) continue;
    // Only the stated number of parts and the largest are tried: memory falls with each more.
    const bool stated = all[i].micro_batches == stated_.micro_batches;
    if (!stated && all[i].micro_batches < all.back().micro_batches) continue;
    if (LowerBound(all[i]) >= least.footprint.peak_bytes) continue;
    StepSettings settings = all[i];
    settings.evaluation_batch = frugal.evaluation_batch;
    BudgetCandidate candidate = SmallestOf(settings, 0);
    if (candidate.footprint.peak_bytes < least.footprint.peak_bytes) least = std::move(candidate);
  }
  least_by_peak_ = std::move(least);
  return *least_by_peak_;
}

std::optional<BudgetCandidate> BudgetSearch::LeastLike(const BudgetCandidate& other) {
  if (!IsDeep() || other.chain.segments.empty()) return std::nullopt;
  StepSettings settings = ExactSettings();
  settings.micro_batches = std::min(std::max(stated_.micro_batches, other.settings.micro_batches),
                                    setup_.schedule.batch);
  settings.loss_chunk_rows = other.settings.loss_chunk_rows;
  settings.evaluation_batch = std::min(stated_.evaluation_batch, other.settings.evaluation_batch);
  return Placed(settings, other.chain);
}

bool BudgetSearch::FitsWithPaged(int64_t activation_bytes) {
  StepSettings settings = ExactSettings();
  settings.paged_activation_bytes = activation_bytes;
  return Fits(Plan(WithEvaluationThatFits(settings), {}));
}

std::optional<BudgetCandidate> BudgetSearch::FastestFixed(StepSettings settings) {
  const BudgetCandidate stated = Plan(settings, {});
  if (Fits(stated)) return stated;
  if (free_.segments != FreeKnobs::Segments::kPolicyOrNone) return std::nullopt;
  settings.use_gradient_checkpointing = true;
  const BudgetCandidate policy = Plan(settings, {});
  return Fits(policy) ? std::optional(policy) : std::nullopt;
}

std::shared_ptr<ChainPlanner> BudgetSearch::ChainFor(const StepSettings& settings) {
  if (costs_ == PlannerCosts::kModel) return planner_.ChainByModel(settings);
  std::shared_ptr<ChainPlanner> chain = planner_.ChainByMeasurement(settings, budget_bytes_);
  // Measured times compare with measured ones.
  SetUnconstrainedTime(chain->keep_all(), settings);
  return chain;
}

std::optional<BudgetCandidate> BudgetSearch::FastestChain(const StepSettings& settings) {
  const std::shared_ptr<ChainPlanner> chain = ChainFor(settings);
  std::vector<ChainChoice> small = SmallChains(settings);
  for (ChainChoice& choice : small) choice.cost = chain->CostOf(choice.segments);
  FrontierSearch search(*chain, [&](const ChainChoice& choice) { return Plan(settings, choice); });
  return search.Fastest(budget_bytes_, std::move(small));
}

int64_t BudgetSearch::LeastBeside(const BudgetCandidate& chosen, const ChainPlanner& chain) {
  const BudgetCandidate keep_all = Plan(chosen.settings, chain.keep_all());
  const int64_t of_all = keep_all.footprint.peak_bytes - chain.keep_all().cost.peak_bytes;
  const int64_t own = chosen.footprint.peak_bytes - chain.CostOf(chosen.chain.segments).peak_bytes;
  return std::min(own, of_all);
}

std::optional<int64_t> BudgetSearch::LeastPeakOfAny(const BudgetCandidate& least) {
  if (free_.segments != FreeKnobs::Segments::kAny || IsDeep()) return std::nullopt;
  const std::shared_ptr<ChainPlanner> chain = planner_.ChainByModel(least.settings);
  const ChainBound bound(chain->chain(), chain->CostOf(least.chain.segments).peak_bytes);
  const int64_t peak = LeastBeside(least, *chain) + bound.LeastBytes();
  return std::min(peak, least.footprint.peak_bytes);
}

std::optional<BudgetSearch::LeastSeconds> BudgetSearch::BoundsOf(const BudgetCandidate& chosen) {
  if (chosen.chain.segments.empty()) return std::nullopt;
  const std::shared_ptr<ChainPlanner> chain = ChainFor(chosen.settings);
  const int64_t as_low = chosen.chain.cost.peak_bytes;
  const int64_t within_budget = budget_bytes_ - LeastBeside(chosen, *chain);
  ChainBound bound(chain->chain(), std::max(as_low, within_budget));
  const auto parts = static_cast<double>(chosen.settings.micro_batches);
  const double seconds = chosen.seconds / parts;
  const double within = bound.BranchAndBound(within_budget, seconds).seconds;
  // Schedules that peak as low are among those within the budget.
  const bool is_fastest = as_low <= within_budget && within >= seconds;
  const double lower = is_fastest ? within : bound.BranchAndBound(as_low, seconds).seconds;
  return LeastSeconds{.as_low = lower * parts, .within_budget = within * parts};
}

std::optional<BudgetCandidate> BudgetSearch::FastestOf(const StepSettings& settings) {
  const StepSettings fitting = WithEvaluationThatFits(settings);
  return free_.segments == FreeKnobs::Segments::kAny ? FastestChain(fitting)
                                                     : FastestFixed(fitting);
}

// Returns true where these settings take more than the budget whatever the segments, or the least
// that is known of them is far above it.
bool BudgetSearch::CannotFit(StepSettings settings) {
  if (LowerBound(settings) > budget_bytes_) return true;
  if (free_.evaluation_batch) settings.evaluation_batch = 1;
  return SmallestOf(settings, 0).footprint.peak_bytes > budget_bytes_ + budget_bytes_ / 8;
}

std::optional<BudgetCandidate> BudgetSearch::FastestExact() {
  if (LowerBound(ExactSettings()) > budget_bytes_) return std::nullopt;
  if (Fits(unconstrained())) return unconstrained();
  return FastestOf(ExactSettings());
}

std::optional<BudgetCandidate> BudgetSearch::Fastest() {
  auto exact = FastestExact();
  return exact ? exact : FastestRounded();
}

std::optional<BudgetCandidate> BudgetSearch::FasterRounded(const BudgetCandidate& exact) {
  constexpr double kSlow = 1.15, kFaster = 0.95;
  const bool looks = !Rounds(exact) && exact.seconds > kSlow * unconstrained().seconds &&
                     !IsDeep() && costs_ == PlannerCosts::kModel;
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
  return candidate.settings.micro_batches != stated_.micro_batches ||
         candidate.settings.loss_chunk_rows != stated_.loss_chunk_rows;
}

std::optional<BudgetCandidate> BudgetSearch::FastestRounded() {
  if (LowerBound(ExactSettings()) > budget_bytes_) return std::nullopt;
  // These change how sums are rounded, so measured times, which vary, must not choose among them.
  const bool measured = costs_ == PlannerCosts::kMeasured;
  constexpr int64_t kMoreParts = 4;  // many more than needed are never faster
  std::optional<BudgetCandidate> first, best;
  const std::vector<StepSettings> all = RoundingSettings();
  // The largest number of parts takes the least of all that are above the stated one.
  const bool in_parts_too = !all.empty() && !CannotFit(all.back());
  for (const StepSettings& settings : all) {
    if (settings.micro_batches != stated_.micro_batches && !in_parts_too) break;
    if (first && settings.micro_batches > kMoreParts * first->settings.micro_batches) break;
    if (CannotFit(settings)) continue;
    auto candidate = FastestOf(settings);
    if (!candidate) continue;
    if (measured) return candidate;
    if (!first) first = candidate;
    if (IsFaster(*candidate, best)) best = std::move(candidate);
  }
  return best;
}

}  // namespace frugal

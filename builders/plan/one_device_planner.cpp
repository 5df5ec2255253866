#include "builders/plan/one_device_planner.h"

#include <algorithm>
#include <stdexcept>

#include "builders/budget/budget_planner.h"
#include "builders/budget/footprint.h"
#include "builders/budget/kinds_choice.h"
#include "builders/budget/segments_choice.h"
#include "builders/dry_run/checkpoint_policy.h"
#include "builders/dry_run/dry_training.h"
#include "builders/dry_run/saved_bytes.h"
#include "builders/plan/least_runs.h"
#include "builders/setup/dry_environment.h"
#include "sdk/core/byte_size.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

using std::int64_t;

// Numbers run in order of the layers, so those inside one layer follow each other.
SegmentRange SegmentsInside(const std::map<std::string, int>& numbers, const std::string& path) {
  SegmentRange range;
  int last = -1;
  const std::string prefix = path + ".";
  for (auto at = numbers.lower_bound(prefix); at != numbers.end(); ++at) {
    const auto& [inside, number] = *at;
    if (!inside.starts_with(prefix)) break;
    range.first = last < 0 ? number : std::min(range.first, number);
    last = std::max(last, number);
  }
  range.count = last < 0 ? 0 : last - range.first + 1;
  return range;
}

void DescribeLayers(PlannedTraining& planned, const LayerPasses& passes) {
  const std::map<std::string, int> segments = SegmentNumbers(*planned.network);
  for (std::size_t i = 0; i < planned.network->size(); ++i) {
    Layer& layer = planned.network->layer(i);
    const auto keeps = passes.saved.find(layer.path());
    const auto segment = segments.find(layer.path());
    planned.plan.layers.push_back({.path = layer.path(),
                                   .description = layer.Describe(),
                                   .output = passes.outputs[i],
                                   .parameters = layer.ParameterCount(),
                                   .saved_bytes = keeps == passes.saved.end() ? 0 : keeps->second,
                                   .segment = segment == segments.end() ? -1 : segment->second,
                                   .inner_segments = SegmentsInside(segments, layer.path())});
  }
}

void FillTotals(PlannedTraining& planned, const MemoryLedger& ledger) {
  Plan& plan = planned.plan;
  plan.parameter_count = planned.network->ParameterCount();
  for (const Parameter* parameter : planned.parameters) {
    if (parameter->trainable) plan.trainable_count += parameter->shape.ElementCount();
  }
  plan.total_steps = planned.schedule.total_steps;
  plan.peak_by_purpose = ledger.peak();
  plan.peak_bytes = ledger.peak_total();
  plan.at_peak = ledger.at_peak();
  for (const StepPlan& step : plan.steps) {
    plan.arena_bytes = std::max(plan.arena_bytes, step.layout.arena_bytes);
    plan.live_lower_bound_bytes =
        std::max(plan.live_lower_bound_bytes, step.layout.lower_bound_bytes);
  }
  const TrainingMemoryConfig& memory = planned.config.memory;
  if (!memory.use_activation_pooling) return;
  plan.arena_kept_bytes = std::min(plan.arena_bytes, memory.max_pool_memory_mb * kBytesPerMegabyte);
}

void TakeChoice(const SegmentsChoice& choice, RunConfig& config) {
  config = WithSettings(std::move(config), choice.settings);
  if (choice.every_n_layers == 0 ||
      choice.every_n_layers == config.memory.checkpoint_every_n_layers) {
    return;
  }
  config.memory.checkpoint_every_n_layers = choice.every_n_layers;
  config.origins.Set("memory.checkpoint_every_n_layers", Origin::Planner());
}

PlannedSegments PlanOf(const SegmentsChoice& choice) {
  PlannedSegments plan = choice.plan;
  plan.every_n_layers = choice.every_n_layers;
  if (!choice.segments) return plan;
  plan.segments = std::ssize(*choice.segments);
  for (const CheckpointSegment& segment : *choice.segments) {
    plan.stages += static_cast<int64_t>(segment.end - segment.begin);
  }
  return plan;
}

// Holds what the planner decided about segments.
struct Segments {
  std::optional<CheckpointSegments> leaves;  // of the network's leaves
  std::optional<CheckpointOptions> kinds;    // in place of what the fields say
};

// Cuts the network into segments of its leaves where these were chosen, else into runs.
void Cut(PlannedTraining& planned, const Segments& segments, const StepSettings& settings,
         const SavedBytes& kept) {
  if (!segments.leaves) return SetPolicySegments(planned, settings, kept, segments.kinds);
  SetCheckpointSegments(*planned.network, {}, {});
  planned.network->SetLeafSegments(*segments.leaves);
}

// A search leaves the heap what it had at most, and the backend operations for batches of all sizes
// that it tried; the training would hold both beside what is planned.
void ForgetSearch(TrainingSetup& setup) {
  const auto& training = setup.config.training;
  setup.backend = MakeBackend(training.backend, ProductsOf(training.precision));
  ReturnFreeMemory();
}

}  // namespace

PlannedTraining PlanOneDevice(TrainingSetup setup) {
  const bool trains = setup.trains();
  const std::optional<BudgetChoice> choice = trains ? ChooseWithinBudget(setup) : std::nullopt;
  if (choice) {
    setup.config = WithSettings(std::move(setup.config), choice->settings);
    ForgetSearch(setup);
  }
  const std::optional<SegmentsChoice> planned_segments =
      trains ? ChooseSegments(setup) : std::nullopt;
  if (planned_segments) TakeChoice(*planned_segments, setup.config);
  Trial trial = TrialWith(setup, SettingsOf(setup.config));
  setup.schedule = trial.schedule;
  const LayerPasses passes = RunLayerPasses(setup, trial);
  const SavedBytes& kept = passes.saved;
  Segments segments;
  if (choice) segments.leaves = choice->segments;
  if (planned_segments) segments.leaves = planned_segments->segments;
  if (trains && !segments.leaves) segments.kinds = ChooseKinds(setup, kept);
  PlannedTraining planned{std::move(setup), Plan()};
  if (trains) Cut(planned, segments, trial.settings, kept);
  Plan& plan = planned.plan;
  DescribeLayers(planned, passes);
  if (trains) {
    trial.final_after = choice ? choice->final_after : ContributionsFor(planned, trial);
    plan.final_after = trial.final_after;
    plan.summed_after = trial.summed_after = SummedContributionsFor(planned, trial);
  }
  DryTraining training(planned, trial);
  const std::vector<PlannedStep> steps = StepsOf(trial.schedule);
  const bool is_second = trial.updates_in_backward() && steps.front().times > 1 &&
                         training.TakeWhatStays(trial.final_after);
  for (const PlannedStep& step : steps) {
    plan.steps.push_back(training.Run(step.kind, step.batch, is_second ? 1 : step.times));
  }
  FillTotals(planned, training.ledger());
  plan.paging = training.Paging();
  if (choice) {
    plan.budget = choice->plan;
    plan.budget->planned_bytes =
        FootprintBytes(planned.config.memory, plan, training.ledger().live_total());
  }
  if (planned_segments) plan.planned_segments = PlanOf(*planned_segments);
  if (segments.kinds) {
    plan.kinds = {.attention_layers = segments.kinds->attention_layers,
                  .residual_blocks = segments.kinds->residual_blocks,
                  .nested_blocks = segments.kinds->nested_blocks};
  }
  plan.least_runs = LeastRunsOf(planned, kept);
  if (trains) Cut(planned, segments, trial.settings, kept);
  plan.largest_holders = HoldersOf(plan.steps.front());
  return planned;
}

Trial TrialOf(const PlannedTraining& planned) {
  Trial trial = TrialWith(planned, SettingsOf(planned.config));
  trial.final_after = planned.plan.final_after;
  trial.summed_after = planned.plan.summed_after;
  return trial;
}

StepPlan PlanStep(const PlannedTraining& planned, StepKind kind, int64_t batch) {
  DryTraining training(planned, TrialOf(planned));
  training.MaterializeValues();
  // Packed weights are there too once anything has run.
  const bool packs = planned.dtype() == DType::kBF16;
  return training.Run(kind, batch, packs ? 2 : 1);
}

const StepPlan& PeakStepOf(const Plan& plan) {
  return *std::ranges::max_element(plan.steps, {}, PeakBytesOf);
}

StepMemory PlanStepMemory(const PlannedTraining& planned, const StepPlan& asked) {
  constexpr std::size_t kMostPlaced = 1500;
  const Trial trial = TrialOf(planned);
  const std::vector<PlannedStep> order = StepsOf(trial.schedule);
  DryTraining training(planned, trial);
  for (const PlannedStep& step : order) {
    if (step.kind != asked.kind || step.batch != asked.batch) {
      training.Trace(step.kind, step.batch, step.times);
      continue;
    }
    StepMemory memory = training.Memory(step.kind, step.batch, step.times, kMostPlaced);
    FillForms(planned, memory);
    return memory;
  }
  throw std::logic_error("the plan has no such step");
}

std::string PeakKindsText(const PlannedTraining& planned, std::size_t most) {
  std::string text = "by kind of operation there are ";
  const std::vector<MemoryShare> kinds =
      SharesByKind(PlanStepMemory(planned, PeakStepOf(planned.plan)));
  for (std::size_t i = 0; i < std::min(most, kinds.size()); ++i) {
    text += (i > 0 ? ", " : "") + kinds[i].name + " " + FormatBytes(kinds[i].bytes);
    if (kinds[i].layers > 1) text += " in " + FormatCount(kinds[i].layers) + " places";
  }
  return text;
}

void FillForms(const TrainingSetup& setup, StepMemory& memory) {
  std::map<std::string_view, const Parameter*> parameters;
  for (const Parameter* parameter : setup.parameters) parameters[parameter->path] = parameter;
  const DType dtype = MasterType(setup.dtype());
  for (HeldBlock& block : memory.blocks) {
    const auto found = parameters.find(block.holder);
    if (block.form || found == parameters.end()) continue;
    const TensorForm form = {dtype, found->second->shape};
    const std::int64_t bytes = form.shape.ElementCount() * SizeOf(dtype);
    if (RoundUpToAlignment(bytes) == block.bytes) block.form = form;
  }
}

}  // namespace frugal

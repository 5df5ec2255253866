#include "builders/run/executor.h"

#include <algorithm>

#include "builders/plan/cautions.h"
#include "builders/plan/planner.h"
#include "builders/run/weights.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

ParameterStore::Options StoreOptions(const PlannedTraining& planned, MemoryStack& memory) {
  const auto strategy = planned.config.memory.default_initialization_strategy;
  return {.dtype = MasterType(planned.dtype()),
          .seed = planned.seed(),
          .dry = false,
          .start_at_zero = strategy == InitializationStrategy::kZero,
          .gradient_memory = planned.updates_in_backward() ? &memory.step() : nullptr};
}

// The activation pool is a limit too: what a step needs beyond it is returned after each step.
void WarnAboutActivationPool(const PlannedTraining& planned) {
  const TrainingMemoryConfig& memory = planned.config.memory;
  const std::int64_t pool = memory.max_pool_memory_mb * kBytesPerMegabyte;
  const auto threshold = memory.memory_warning_threshold * static_cast<double>(pool);
  if (static_cast<double>(planned.plan.arena_bytes) < threshold) return;
  LogWarning("a step uses " + FormatBytes(planned.plan.arena_bytes) + " of the activation pool's " +
             FormatBytes(pool) + " (max_pool_memory_mb); the largest holders are " +
             DescribeHolders(planned.plan.largest_holders, 3));
}

}  // namespace

Executor::Executor(const PlannedTraining& planned, DataSources sources)
    : planned_(planned),
      memory_(planned.config.memory, [](const std::string& text) { LogWarning(text); }),
      store_(memory_.tensors(), memory_.ledger(), StoreOptions(planned, memory_)),
      context_(Context::Parts{.backend = *planned.backend,
                              .ledger = memory_.ledger(),
                              .step_memory = memory_.step(),
                              .parameters = store_,
                              .dtype = planned.dtype(),
                              .seed = planned.seed()}),
      sources_(std::move(sources)) {
  for (const std::string& caution : CautionsAbout(planned)) LogWarning(caution);
  if (memory_.arena() != nullptr) {
    memory_.arena()->ReserveFor(planned.plan.arena_bytes);
    WarnAboutActivationPool(planned);
  }
  const TrainingMemoryConfig& memory = planned.config.memory;
  if (memory.default_initialization_strategy == InitializationStrategy::kFromFile) {
    store_.SetSource(
        SourceFrom(OpenModelWeights(*memory.weights_file_path, memory.weights_file_format,
                                    planned.parameters, planned.config.model.allow_missing),
                   planned.config.training.on_divergence));
  }
  if (memory.default_initialization_strategy == InitializationStrategy::kLazy) return;
  for (const Parameter* parameter : planned.parameters) store_.Value(*parameter);
}

StepLayouts::Layout Executor::LayoutFor(StepKind kind, std::int64_t batch) {
  const StepPlan* planned = planned_.plan.Find(kind, batch);
  if (planned != nullptr) return {StepLayouts::Layout(), &planned->layout};  // lives as the model
  return layouts_.Of(kind, batch, [&] { return PlanStep(planned_, kind, batch).layout; });
}

// Runs `step` on the memory that was planned for it.
template <class Step>
auto Executor::RunPlanned(StepKind kind, std::int64_t batch, Step step) {
  PlannedArena* arena = memory_.arena();
  if (arena == nullptr) return step();
  const StepLayouts::Layout layout = LayoutFor(kind, batch);
  arena->Begin(*layout);
  try {
    auto result = step();
    arena->End();
    return result;
  } catch (...) {
    arena->Abandon();
    throw;
  }
}

StepResult Executor::RunStep(StepKind kind, const DataSource& source,
                             std::span<const std::int64_t> samples) {
  const auto batch = static_cast<std::int64_t>(samples.size());
  return RunPlanned(kind, batch, [&] {
    if (kind == StepKind::kEvaluate) {
      return EvaluateStep(context_, planned_.step_parts(), &source, samples);
    }
    const StepResult result =
        TrainStep(context_, planned_.step_parts(), *planned_.optimizer, &source, samples);
    context_.set_step(context_.step() + 1);
    return result;
  });
}

std::vector<float> Executor::Predict(std::span<const InputValues> inputs, std::int64_t count) {
  const EmaScope average(*this);
  std::vector<float> outputs;
  RunPlanned(StepKind::kPredict, count,
             [&] { return PredictStep(context_, planned_.step_parts(), inputs, count, outputs); });
  return outputs;
}

EvaluationResult Executor::Evaluate() {
  const EmaScope average(*this);
  const DataSource& source = Source(DatasetPart::kTest);
  const std::int64_t samples =
      std::min(source.count(), planned_.config.data.test_limit.value_or(source.count()));
  const std::vector<std::int64_t> order = FirstSamples(samples);
  EvaluationResult result;
  result.samples = samples;
  std::int64_t correct = 0;
  for (std::int64_t at = 0; at < samples;) {
    const std::int64_t count = std::min(planned_.schedule.evaluation_batch, samples - at);
    const StepResult step = RunStep(
        StepKind::kEvaluate, source,
        std::span(order).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)));
    result.loss += step.loss * static_cast<double>(count);
    correct += step.correct;
    at += count;
  }
  result.loss /= static_cast<double>(samples);
  if (planned_.layout.classes > 0 && planned_.diffusion == nullptr) {
    const std::int64_t labels = samples * planned_.layout.label_shape.ElementCount();
    result.accuracy = static_cast<double>(correct) / static_cast<double>(labels);
  }
  return result;
}

void Executor::SwapEma() {
  for (const Parameter* parameter : planned_.parameters) {
    store_.SwapEma(*parameter, *planned_.backend);
  }
  averaged_ = !averaged_;
}

const DataSource& Executor::Source(DatasetPart part) {
  auto& source = part == DatasetPart::kTrain ? sources_.train : sources_.test;
  if (source != nullptr) return *source;
  if (!planned_.dataset) {
    throw UsageError({.where = "Model",
                      .required = "the program's own data has the part that is asked for",
                      .given = "it brought none",
                      .advice = "give a test part, or set evaluate to false"});
  }
  const LabelScope label(context_, "data set");
  source =
      OpenPart(*planned_.dataset, part, TakeStorage(memory_.tensors(), *planned_.dataset, part));
  return *source;
}

void Executor::RequireFiniteWeights() {
  const auto path = FirstNonFinite(planned_.parameters, store_);
  if (!path) return;
  const DivergenceError error =
      Diverged("parameter " + *path + " holds numbers that are not finite");
  if (planned_.config.training.on_divergence == DivergencePolicy::kStop) throw error;
  LogWarning(error.what());
}

std::string Executor::WeightsHash() {
  const EmaScope average(*this);
  return HashWeights(planned_.parameters, store_);
}

void Executor::CopyValues(const Executor& from) {
  for (const Parameter* parameter : planned_.parameters) {
    store_.CopyFrom(from.store_, *parameter);
    if (from.averaged_) store_.SwapEma(*parameter, *planned_.backend);
  }
}

MemoryMeasurement Executor::Measured() const {
  const MemoryLedger& ledger = memory_.ledger();
  MemoryMeasurement measured;
  measured.peak_by_purpose = ledger.peak();
  measured.peak_bytes = ledger.peak_total();
  measured.at_peak = ledger.at_peak();
  measured.arena_bytes = memory_.arena() ? memory_.arena()->capacity_bytes() : 0;
  measured.peak_rss_bytes = PeakResidentBytes();
  measured.pool = memory_.pool_statistics();
  return measured;
}

}  // namespace frugal

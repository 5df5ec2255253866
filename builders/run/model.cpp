#include "builders/run/model.h"

#include <algorithm>
#include <array>

#include "builders/plan/cautions.h"
#include "builders/plan/planner.h"
#include "builders/run/copy_blueprint.h"
#include "builders/run/training_loop.h"
#include "builders/run/weights.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

ParameterStore::Options StoreOptions(const Blueprint& blueprint, MemoryStack& memory) {
  const auto strategy = blueprint.config.memory.default_initialization_strategy;
  return {.dtype = ExactType(blueprint.dtype()),
          .seed = blueprint.seed(),
          .dry = false,
          .start_at_zero = strategy == InitializationStrategy::kZero,
          .gradient_memory = blueprint.updates_in_backward() ? &memory.step() : nullptr};
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  if (!tensor) return {};
  if (tensor.dtype() == DType::kF64) {
    return {tensor.values<double>().begin(), tensor.values<double>().end()};
  }
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

// A moving average begins anew with the value, where there is one.
void RestartAverage(ParameterStore& store, const Parameter& parameter, Backend& backend) {
  if (!store.HasState(parameter, ParameterStore::kAverage)) return;
  backend.elementwise().Copy(store.Value(parameter),
                             store.State(parameter, ParameterStore::kAverage, backend));
}

// The activation pool is a limit too: what a step needs beyond it is returned after each step.
void WarnAboutActivationPool(const Blueprint& blueprint) {
  const TrainingMemoryConfig& memory = blueprint.config.memory;
  const std::int64_t pool = memory.max_pool_memory_mb * kBytesPerMegabyte;
  const auto threshold = memory.memory_warning_threshold * static_cast<double>(pool);
  if (static_cast<double>(blueprint.plan.arena_bytes) < threshold) return;
  LogWarning("a step uses " + FormatBytes(blueprint.plan.arena_bytes) +
             " of the activation pool's " + FormatBytes(pool) +
             " (max_pool_memory_mb); the largest holders are " +
             DescribeHolders(blueprint.plan.largest_holders, 3));
}

std::unique_ptr<Blueprint> TakeWhole(Blueprint blueprint) {
  if (blueprint.network == nullptr || blueprint.backend == nullptr) {
    throw UsageError({.where = "Model",
                      .required = "a blueprint that no model was made of",
                      .given = "this one was moved from",
                      .advice = "call AiModelBuilder::Plan() for each model"});
  }
  return std::make_unique<Blueprint>(std::move(blueprint));
}

}  // namespace

Model::Model(Blueprint blueprint, DataSources sources)
    : use_(std::make_unique<ModelUse>()),
      blueprint_(TakeWhole(std::move(blueprint))),
      memory_(std::make_unique<MemoryStack>(blueprint_->config.memory,
                                            [](const std::string& text) { LogWarning(text); })),
      store_(std::make_unique<ParameterStore>(memory_->tensors(), memory_->ledger(),
                                              StoreOptions(*blueprint_, *memory_))),
      context_(std::make_unique<Context>(Context::Parts{.backend = *blueprint_->backend,
                                                        .ledger = memory_->ledger(),
                                                        .step_memory = memory_->step(),
                                                        .parameters = *store_,
                                                        .dtype = blueprint_->dtype(),
                                                        .seed = blueprint_->seed()})),
      sources_(std::move(sources)) {
  for (const std::string& caution : CautionsAbout(*blueprint_)) LogWarning(caution);
  if (memory_->arena() != nullptr) {
    memory_->arena()->ReserveFor(plan().arena_bytes);
    WarnAboutActivationPool(*blueprint_);
  }
  const TrainingMemoryConfig& memory = blueprint_->config.memory;
  if (memory.default_initialization_strategy == InitializationStrategy::kFromFile) {
    store_->SetSource(
        SourceFrom(OpenModelWeights(*memory.weights_file_path, memory.weights_file_format,
                                    blueprint_->parameters, blueprint_->config.model.allow_missing),
                   blueprint_->config.training.on_divergence));
  }
  if (memory.default_initialization_strategy == InitializationStrategy::kLazy) return;
  for (const Parameter* parameter : blueprint_->parameters) store_->Value(*parameter);
}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&& other) noexcept {
  // In the order of their dependence: what holds memory goes before the memory.
  context_ = std::move(other.context_);
  store_ = std::move(other.store_);
  sources_ = std::move(other.sources_);
  memory_ = std::move(other.memory_);
  layouts_ = std::move(other.layouts_);
  trained_ = other.trained_;
  averaged_ = other.averaged_;
  blueprint_ = std::move(other.blueprint_);
  use_ = std::move(other.use_);
  return *this;
}

TrainingResult Model::Train(TrainingObserver* observer, const TrainOptions& options) {
  const ModelUse::Scope use(*use_, "Model::Train");
  if (trained_) {
    throw UsageError({.where = "Model::Train",
                      .required = "a model runs its training program once",
                      .given = "it has run before",
                      .advice = "build another model, or go on with TrainStep"});
  }
  trained_ = true;
  return TrainingLoop(*this, observer, options).Run();
}

StepLayouts::Layout Model::LayoutFor(StepKind kind, std::int64_t batch) {
  const StepPlan* planned = blueprint_->plan.Find(kind, batch);
  if (planned != nullptr) return {StepLayouts::Layout(), &planned->layout};  // lives as the model
  return layouts_.Of(kind, batch, [&] { return PlanStep(*blueprint_, kind, batch).layout; });
}

// Runs `step` on the memory that was planned for it.
template <class Step>
auto Model::RunPlanned(StepKind kind, std::int64_t batch, Step step) {
  PlannedArena* arena = memory_->arena();
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

StepResult Model::RunStep(StepKind kind, const DataSource& source,
                          std::span<const std::int64_t> samples) {
  const auto batch = static_cast<std::int64_t>(samples.size());
  return RunPlanned(kind, batch, [&] {
    if (kind == StepKind::kEvaluate) {
      return EvaluateStep(*context_, blueprint_->step_parts(), &source, samples);
    }
    const StepResult result = frugal::TrainStep(*context_, blueprint_->step_parts(),
                                                *blueprint_->optimizer, &source, samples);
    context_->set_step(context_->step() + 1);
    return result;
  });
}

StepResult Model::TrainStep(std::span<const std::int64_t> samples) {
  const ModelUse::Scope use(*use_, "Model::TrainStep");
  if (samples.empty()) {
    throw UsageError({.where = "Model::TrainStep",
                      .required = "at least one sample",
                      .given = "none was given",
                      .advice = "name samples of the training part by their numbers"});
  }
  const DataSource& source = Source(DatasetPart::kTrain);
  for (const std::int64_t sample : samples) {
    if (sample >= 0 && sample < source.count()) continue;
    throw UsageError({.where = "Model::TrainStep",
                      .required = "samples lie in [0, " + std::to_string(source.count()) + ")",
                      .given = "sample " + std::to_string(sample) + " was given",
                      .advice = "samples are counted from 0"});
  }
  return RunStep(StepKind::kTrain, source, samples);
}

Model::AverageScope::AverageScope(Model& model)
    : use_(std::in_place, *model.use_, "Model::AverageScope"),
      model_(model.config().optimizer.average_decay > 0 && !model.averaged_ ? &model : nullptr) {
  if (model_ == nullptr) {
    use_.reset();
    return;
  }
  for (const Parameter* parameter : model.parameters()) {
    model.store_->SwapAverage(*parameter, *model.blueprint_->backend);
  }
  model.averaged_ = true;
}

Model::AverageScope::~AverageScope() {
  if (model_ == nullptr) return;
  for (const Parameter* parameter : model_->parameters()) {
    model_->store_->SwapAverage(*parameter, *model_->blueprint_->backend);
  }
  model_->averaged_ = false;
}

EvaluationResult Model::Evaluate() {
  const ModelUse::Scope use(*use_, "Model::Evaluate");
  const AverageScope average(*this);
  const DataSource& source = Source(DatasetPart::kTest);
  const std::int64_t samples =
      std::min(source.count(), config().data.test_limit.value_or(source.count()));
  const std::vector<std::int64_t> order = FirstSamples(samples);
  EvaluationResult result;
  result.samples = samples;
  std::int64_t correct = 0;
  for (std::int64_t at = 0; at < samples;) {
    const std::int64_t count = std::min(program().evaluation_batch, samples - at);
    const StepResult step = RunStep(
        StepKind::kEvaluate, source,
        std::span(order).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)));
    result.loss += step.loss * static_cast<double>(count);
    correct += step.correct;
    at += count;
  }
  result.loss /= static_cast<double>(samples);
  if (layout().classes > 0 && diffusion() == nullptr) {
    const std::int64_t labels = samples * layout().label_shape.ElementCount();
    result.accuracy = static_cast<double>(correct) / static_cast<double>(labels);
  }
  return result;
}

std::vector<float> Model::PredictTokens(std::span<const std::int64_t> tokens, std::int64_t count) {
  const ModelUse::Scope use(*use_, "Model::PredictTokens");
  CheckPredict("Model::PredictTokens", tokens.size(), count, true);
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < layout().vocabulary) continue;
    throw UsageError({.where = "Model::PredictTokens",
                      .required = "tokens lie in [0, " + std::to_string(layout().vocabulary) + ")",
                      .given = "token " + std::to_string(token) + " was given",
                      .advice = "give numbers of the vocabulary"});
  }
  const AverageScope average(*this);
  std::vector<float> outputs;
  RunPlanned(StepKind::kPredict, count, [&] {
    const std::array<InputValues, 1> inputs = {tokens};
    return PredictStep(*context_, blueprint_->step_parts(), inputs, count, outputs);
  });
  return outputs;
}

std::vector<float> Model::PredictInputs(std::span<const InputValues> inputs, std::int64_t count) {
  const ModelUse::Scope use(*use_, "Model::PredictInputs");
  CheckPredictInputs(inputs, count);
  const AverageScope average(*this);
  std::vector<float> outputs;
  RunPlanned(StepKind::kPredict, count, [&] {
    return PredictStep(*context_, blueprint_->step_parts(), inputs, count, outputs);
  });
  return outputs;
}

std::vector<float> Model::Predict(std::span<const float> inputs, std::int64_t count) {
  const ModelUse::Scope use(*use_, "Model::Predict");
  CheckPredict("Model::Predict", inputs.size(), count, false);
  const AverageScope average(*this);
  std::vector<float> outputs;
  RunPlanned(StepKind::kPredict, count, [&] {
    const std::array<InputValues, 1> all = {inputs};
    return PredictStep(*context_, blueprint_->step_parts(), all, count, outputs);
  });
  return outputs;
}

std::vector<std::int64_t> Model::Generate(std::span<const std::int64_t> prompt,
                                          const GenerateOptions& options) {
  const ModelUse::Scope use(*use_, "Model::Generate");
  const std::int64_t vocabulary = blueprint_->layout.vocabulary;
  for (const std::int64_t token : prompt) {
    if (token >= 0 && token < vocabulary) continue;
    throw UsageError(
        {.where = "Model::Generate",
         .required = "tokens lie in [0, " + std::to_string(vocabulary) + ")",
         .given = std::to_string(token),
         .advice = vocabulary == 0 ? "use a model over tokens" : "correct the prompt"});
  }
  const AverageScope average(*this);
  HeapAllocator heap;
  MemoryLedger ledger;  // the model's own book is of training, as planned
  TrackedAllocator memory(ledger, heap, false);
  Context context({.backend = *blueprint_->backend,
                   .ledger = ledger,
                   .step_memory = memory,
                   .parameters = *store_,
                   .dtype = blueprint_->dtype(),
                   .seed = blueprint_->seed()});
  return frugal::Generate(context, network(), prompt, options);
}

const DataSource& Model::Source(DatasetPart part) {
  auto& source = part == DatasetPart::kTrain ? sources_.train : sources_.test;
  if (source != nullptr) return *source;
  if (!blueprint_->dataset) {
    throw UsageError({.where = "Model",
                      .required = "the program's own data has the part that is asked for",
                      .given = "it brought none",
                      .advice = "give a test part, or set evaluate to false"});
  }
  const LabelScope label(*context_, "data set");
  source = OpenPart(*blueprint_->dataset, part,
                    TakeStorage(memory_->tensors(), *blueprint_->dataset, part));
  return *source;
}

const Parameter& Model::Find(const std::string& path) const {
  const auto found = std::ranges::find(parameters(), path, &Parameter::path);
  if (found != parameters().end()) return **found;
  throw UsageError({.where = "Model",
                    .required = "a parameter of the model",
                    .given = "there is none called '" + path + "'",
                    .advice = "parameters() lists them"});
}

std::vector<double> Model::Values(const std::string& path) {
  const ModelUse::Scope use(*use_, "Model::Values");
  return ToDoubles(store_->Value(Find(path)));
}

std::vector<double> Model::LastGradient(const std::string& path) {
  const ModelUse::Scope use(*use_, "Model::LastGradient");
  return ToDoubles(store_->Gradient(Find(path)));
}

void Model::RequireFiniteWeights() {
  const auto path = FirstNonFinite(parameters(), *store_);
  if (!path) return;
  const DivergenceError error =
      Diverged("parameter " + *path + " holds numbers that are not finite");
  if (config().training.on_divergence == DivergencePolicy::kStop) throw error;
  LogWarning(error.what());
}

void Model::SaveWeights(const std::string& path) {
  const ModelUse::Scope use(*use_, "Model::SaveWeights");
  const AverageScope average(*this);
  RequireFiniteWeights();
  WriteWeights(path, parameters(), *store_);
}

std::string Model::WeightsHash() {
  const ModelUse::Scope use(*use_, "Model::WeightsHash");
  const AverageScope average(*this);
  return HashWeights(parameters(), *store_);
}

void Model::LoadWeights(const std::string& path, WeightsFormat format) {
  LoadWeights(path, format, config().model.allow_missing);
}

void Model::LoadWeights(const std::string& path, WeightsFormat format, bool allow_missing) {
  const ModelUse::Scope use(*use_, "Model::LoadWeights");
  const auto file = OpenModelWeights(path, format, parameters(), allow_missing);
  for (const Parameter* parameter : parameters()) {
    ReadInto(*file, *parameter, store_->Value(*parameter), config().training.on_divergence);
    RestartAverage(*store_, *parameter, *blueprint_->backend);
    store_->Repack(*parameter, *blueprint_->backend);
  }
}

Model Model::Clone() const {
  const ModelUse::Scope use(*use_, "Model::Clone");
  Model clone(CopyBlueprint(*blueprint_), blueprint_->dataset ? DataSources() : sources_);
  for (const Parameter* parameter : clone.parameters()) {
    clone.store_->CopyFrom(*store_, *parameter);
    if (averaged_) clone.store_->SwapAverage(*parameter, *clone.blueprint_->backend);
  }
  return clone;
}

std::int64_t Model::live_bytes() const {
  const ModelUse::Scope use(*use_, "Model::live_bytes");
  return memory_->ledger().live_total();
}

MemoryMeasurement Model::Measured() const {
  const ModelUse::Scope use(*use_, "Model::Measured");
  const MemoryLedger& ledger = memory_->ledger();
  MemoryMeasurement measured;
  measured.peak_by_purpose = ledger.peak();
  measured.peak_bytes = ledger.peak_total();
  measured.at_peak = ledger.at_peak();
  measured.arena_bytes = memory_->arena() ? memory_->arena()->capacity_bytes() : 0;
  measured.peak_rss_bytes = PeakResidentBytes();
  measured.pool = memory_->pool_statistics();
  return measured;
}

}  // namespace frugal

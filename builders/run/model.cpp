#include "builders/run/model.h"

#include <algorithm>
#include <array>

#include "builders/execute/make_executor.h"
#include "builders/execute/weights.h"
#include "builders/plan/planner.h"
#include "builders/run/copy_training.h"
#include "builders/run/given_values.h"
#include "builders/run/predict_chunks.h"
#include "builders/run/training_loop.h"
#include "builders/snapshot/snapshot_keeper.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

std::vector<double> ToDoubles(const Tensor& tensor) {
  if (!tensor) return {};
  if (tensor.dtype() == DType::kF64) {
    return {tensor.values<double>().begin(), tensor.values<double>().end()};
  }
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

template <class From, class To>
void CopyAs(const Tensor& from, const Tensor& to) {
  std::ranges::transform(from.values<From>(), to.data<To>(),
                         [](From value) { return static_cast<To>(value); });
}

// Copies f32 or f64 into either of them, of one shape.
void CopyNumbers(const Tensor& from, const Tensor& to) {
  const bool wide = to.dtype() == DType::kF64;
  if (from.dtype() == DType::kF64) {
    wide ? CopyAs<double, double>(from, to) : CopyAs<double, float>(from, to);
  } else {
    wide ? CopyAs<float, double>(from, to) : CopyAs<float, float>(from, to);
  }
}

// A moving average begins anew with the value, where there is one.
void RestartEma(ParameterStore& store, const Parameter& parameter, Backend& backend) {
  if (!store.HasState(parameter, ParameterStore::kAverage)) return;
  const Tensor average = store.State(parameter, ParameterStore::kAverage, backend);
  backend.elementwise().Copy(store.Value(parameter), average);
  store.KeepState(parameter, ParameterStore::kAverage, average);
}

// A training on several devices is planned anew, which comes to the same.
PlannedTraining PlanAgain(const PlannedTraining& planned) {
  return PlanTraining(WithoutWeightsFile(planned.config),
                      planned.dataset ? nullptr : &planned.layout);
}

std::unique_ptr<PlannedTraining> TakeWhole(PlannedTraining planned) {
  if (planned.network == nullptr || planned.backend == nullptr) {
    throw UsageError({.where = "Model",
                      .required = "a planned training that no model was made of",
                      .given = "this one was moved from",
                      .advice = "call AiModelBuilder::Plan() for each model"});
  }
  return std::make_unique<PlannedTraining>(std::move(planned));
}

}  // namespace

void RefuseMovedModel() {
  throw UsageError({.where = "Model",
                    .required = "a model that was not moved into another",
                    .given = "this one was",
                    .advice = "use the one that it was moved into"});
}

Model::Model(PlannedTraining planned, DataSources sources)
    : use_(std::make_unique<OneThreadGuard>()),
      planned_(TakeWhole(std::move(planned))),
      executor_(MakeExecutor(*planned_, std::move(sources))) {}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&& other) noexcept {
  executor_ = std::move(other.executor_);  // before the planned training, which it refers to
  epochs_run_ = other.epochs_run_;
  resumed_ = std::move(other.resumed_);
  resumed_from_ = std::move(other.resumed_from_);
  records_next_ = other.records_next_;
  planned_ = std::move(other.planned_);
  use_ = std::move(other.use_);
  return *this;
}

TrainingResult Model::Train(TrainingObserver* observer, const TrainOptions& options) {
  const OneThreadGuard::Scope use(*use_, "Model::Train");
  RequireTraining("Model::Train");
  const auto save = [this](const std::string& path) { SaveOnTheWay(path); };
  const SnapshotStart snapshots = StartFor(options);
  TrainingProgress start{.epochs_before = epochs_run_, .epoch = epochs_run_ + 1};
  if (resumed_) start = *std::exchange(resumed_, std::nullopt);
  TrainingResult result = TrainingLoop(*executor_, observer, options, save, start, snapshots).Run();
  if (!result.epochs.empty()) epochs_run_ = result.epochs.back().epoch;
  return result;
}

StepResult Model::TrainStep(std::span<const std::int64_t> samples) {
  const OneThreadGuard::Scope use(*use_, "Model::TrainStep");
  RequireTraining("Model::TrainStep");
  if (samples.empty()) {
    throw UsageError({.where = "Model::TrainStep",
                      .required = "at least one sample",
                      .given = "none was given",
                      .advice = "name samples of the training part by their numbers"});
  }
  const std::int64_t count = executor_->Open(DatasetPart::kTrain);
  for (const std::int64_t sample : samples) {
    if (sample >= 0 && sample < count) continue;
    throw UsageError({.where = "Model::TrainStep",
                      .required = "samples lie in [0, " + std::to_string(count) + ")",
                      .given = "sample " + std::to_string(sample) + " was given",
                      .advice = "samples are counted from 0"});
  }
  return RunTrainStep({.numbers = samples});
}

StepResult Model::TrainStep(std::span<const InputValues> inputs,
                            std::span<const InputValues> targets, std::int64_t count) {
  const OneThreadGuard::Scope use(*use_, "Model::TrainStep");
  if (layout().sample_weights) {
    throw UsageError(
        {.where = "Model::TrainStep",
         .required = "samples that have weights come from a data source",
         .given = "values, and DataLayout::sample_weights",
         .advice = "call TrainStep with numbers of samples, or leave the weights out"});
  }
  const bool takes_targets = diffusion() == nullptr || layout().classes > 0;
  const GivenValues values("Model::TrainStep", layout(), takes_targets, inputs, targets, count);
  const std::vector<std::int64_t> rows = FirstSamples(count);
  return RunTrainStep({.numbers = rows, .given = &values});
}

Model::EmaScope::EmaScope(Model& model)
    : use_(std::in_place, *model.use_, "Model::EmaScope"),
      average_(std::make_unique<frugal::EmaScope>(*model.executor_)) {
  if (!average_->swaps()) use_.reset();
}

Model::EmaScope::~EmaScope() = default;

EvaluationResult Model::Evaluate(DatasetPart part) {
  const OneThreadGuard::Scope use(*use_, "Model::Evaluate");
  if (part != DatasetPart::kTrain) return executor_->Evaluate(part);
  throw UsageError({.where = "Model::Evaluate",
                    .required = "the test or the validation part",
                    .given = "the training part",
                    .advice = "give a part of it as a test part to see how well it is learned"});
}

std::vector<float> Model::PredictTokens(std::span<const std::int64_t> tokens, std::int64_t count) {
  const OneThreadGuard::Scope use(*use_, "Model::PredictTokens");
  CheckPredict("Model::PredictTokens", tokens.size(), count, true);
  CheckTokens("Model::PredictTokens", tokens);
  const std::array<InputValues, 1> all = {tokens};
  return std::move(PredictParts(all, count).front());
}

std::vector<float> Model::PredictInputs(std::span<const InputValues> inputs, std::int64_t count) {
  const OneThreadGuard::Scope use(*use_, "Model::PredictInputs");
  CheckPredictInputs("Model::PredictInputs", inputs, count);
  return std::move(PredictParts(inputs, count).front());
}

PredictedValues Model::PredictOutputs(std::span<const InputValues> inputs, std::int64_t count) {
  const OneThreadGuard::Scope use(*use_, "Model::PredictOutputs");
  CheckPredictInputs("Model::PredictOutputs", inputs, count);
  return PredictParts(inputs, count);
}

std::vector<float> Model::Predict(std::span<const float> inputs, std::int64_t count) {
  const OneThreadGuard::Scope use(*use_, "Model::Predict");
  CheckPredict("Model::Predict", inputs.size(), count, false);
  const std::array<InputValues, 1> all = {inputs};
  return std::move(PredictParts(all, count).front());
}

std::vector<std::int64_t> Model::Generate(std::span<const std::int64_t> prompt,
                                          const GenerateOptions& options) {
  const OneThreadGuard::Scope use(*use_, "Model::Generate");
  const std::int64_t vocabulary = planned_->layout.vocabulary;
  for (const std::int64_t token : prompt) {
    if (token >= 0 && token < vocabulary) continue;
    throw UsageError(
        {.where = "Model::Generate",
         .required = "tokens lie in [0, " + std::to_string(vocabulary) + ")",
         .given = std::to_string(token),
         .advice = vocabulary == 0 ? "use a model over tokens" : "correct the prompt"});
  }
  if (!planned_->devices.empty()) {
    throw UsageError(
        {.where = "Model::Generate",
         .required = "a model on one device",
         .given = "this one is on " + std::to_string(planned_->devices.size()),
         .advice = "save its weights, and load them into a model with num_devices = 1"});
  }
  const frugal::EmaScope average(*executor_);
  HeapAllocator heap;
  MemoryLedger ledger;  // the model's own book is of training, as planned
  TrackedAllocator memory(ledger, heap, false);
  Context context({.backend = *planned_->backend,
                   .ledger = ledger,
                   .step_memory = memory,
                   .parameters = executor_->StoreOf(*parameters().front()),
                   .dtype = planned_->dtype(),
                   .seed = planned_->seed()});
  return frugal::Generate(context, network(), prompt, options);
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
  const OneThreadGuard::Scope use(*use_, "Model::Values");
  const Parameter& parameter = Find(path);
  return ToDoubles(executor_->ValueOf(parameter));
}

void Model::SetValues(const std::string& path, std::span<const double> values) {
  const OneThreadGuard::Scope use(*use_, "Model::SetValues");
  const Parameter& parameter = Find(path);
  if (std::ssize(values) != parameter.shape.ElementCount()) {
    throw UsageError(
        {.where = "Model::SetValues",
         .required = path + " has " + std::to_string(parameter.shape.ElementCount()) + " values",
         .given = std::to_string(values.size()) + " were given",
         .advice = {}});
  }
  for (ParameterStore* store : executor_->StoresWith(parameter)) {
    const Tensor value = store->Value(parameter);
    store->BeforeChange(parameter);
    if (value.dtype() == DType::kF64) {
      std::ranges::copy(values, value.data<double>());
    } else {
      std::ranges::transform(values, value.data<float>(),
                             [](double number) { return static_cast<float>(number); });
    }
    store->KeepValue(parameter, value);
    store->Repack(parameter, *planned_->backend);
  }
}

std::int64_t Model::CopyWeights(Model& from) {
  if (&from == this) return std::ssize(parameters());
  const OneThreadGuard::Scope use(*use_, "Model::CopyWeights");
  const OneThreadGuard::Scope other_use(*from.use_, "Model::CopyWeights");
  const frugal::EmaScope average(*from.executor_);
  std::int64_t count = 0;
  for (const Parameter* parameter : parameters()) {
    const auto found = std::ranges::find(from.parameters(), parameter->path, &Parameter::path);
    if (found == from.parameters().end()) continue;
    if (!((*found)->shape == parameter->shape)) {
      throw UsageError({.where = "Model::CopyWeights",
                        .required = parameter->path + " is " + ToString(parameter->shape),
                        .given = "the other model has it as " + ToString((*found)->shape),
                        .advice = "give one of them another name, to leave it out"});
    }
    const Tensor value = from.executor_->ValueOf(**found);
    for (ParameterStore* store : executor_->StoresWith(*parameter)) {
      store->BeforeChange(*parameter);
      const Tensor own = store->Value(*parameter);
      CopyNumbers(value, own);
      store->KeepValue(*parameter, own);
      RestartEma(*store, *parameter, *planned_->backend);
      store->Repack(*parameter, *planned_->backend);
    }
    ++count;
  }
  if (count > 0) return count;
  throw UsageError({.where = "Model::CopyWeights",
                    .required = "models that have weights under the same paths",
                    .given = "these have none in common",
                    .advice = "give layers the same names"});
}

std::vector<double> Model::LastGradient(const std::string& path) {
  const OneThreadGuard::Scope use(*use_, "Model::LastGradient");
  const Parameter& parameter = Find(path);
  return ToDoubles(executor_->GradientOf(parameter));
}

void Model::SaveWeights(const std::string& path) {
  const OneThreadGuard::Scope use(*use_, "Model::SaveWeights");
  const frugal::EmaScope average(*executor_);
  executor_->RequireFiniteWeights();
  const ValueLookup values = [this](const Parameter& parameter) {
    return executor_->ValueOf(parameter);
  };
  if (IsFirstProcess()) {
    WriteWeights(path, parameters(), MasterType(planned_->dtype()), planned_->metadata, values);
  } else {
    for (const Parameter* parameter : parameters()) values(*parameter);
  }
}

void Model::SaveOnTheWay(const std::string& path) {
  try {
    SaveWeights(path);
  } catch (const FileError& error) {
    LogWarning(std::string(error.what()) + "; the training goes on without this file");
  }
}

void Model::LoadWeights(const std::string& path, WeightsFormat format) {
  LoadWeights(path, format, config().model.allow_missing);
}

void Model::LoadWeights(const std::string& path, WeightsFormat format, bool allow_missing) {
  const OneThreadGuard::Scope use(*use_, "Model::LoadWeights");
  const auto file = OpenModelWeights(path, format, parameters(), allow_missing);
  for (const Parameter* parameter : parameters()) {
    for (ParameterStore* store : executor_->StoresWith(*parameter)) {
      store->BeforeChange(*parameter);
      const Tensor value = store->Value(*parameter);
      ReadInto(*file, *parameter, value, config().training.on_divergence);
      store->KeepValue(*parameter, value);
      RestartEma(*store, *parameter, *planned_->backend);
      store->Repack(*parameter, *planned_->backend);
    }
  }
}

void Model::RequireFiniteWeights() {
  const OneThreadGuard::Scope use(*use_, "Model::RequireFiniteWeights");
  executor_->RequireFiniteWeights();
}

std::string Model::WeightsHash() {
  const OneThreadGuard::Scope use(*use_, "Model::WeightsHash");
  return executor_->WeightsHash();
}

Model Model::Clone() const {
  const OneThreadGuard::Scope use(*use_, "Model::Clone");
  if (!planned_->trains()) {
    return CopyForInference("Model::Clone", PredictBatchOf(*planned_), config().training.threads);
  }
  Model clone(planned_->devices.empty() ? CopyTraining(*planned_) : PlanAgain(*planned_),
              planned_->dataset ? DataSources() : executor_->sources());
  clone.executor_->CopyValues(*executor_);
  return clone;
}

std::int64_t Model::live_bytes() const {
  const OneThreadGuard::Scope use(*use_, "Model::live_bytes");
  return executor_->live_bytes();
}

MemoryMeasurement Model::Measured() const {
  const OneThreadGuard::Scope use(*use_, "Model::Measured");
  return executor_->Measured();
}

}  // namespace frugal

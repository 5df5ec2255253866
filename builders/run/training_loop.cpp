#include "builders/run/training_loop.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"
#include "sdk/data/batches.h"
#include "sdk/data/shuffle.h"

namespace frugal {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<OperationMeasurement> OperationsOf(const Profile& profile) {
  std::vector<OperationMeasurement> operations;
  for (std::size_t i = 0; i < kOperationKindCount; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const auto& [forward, backward] = profile.by_kind[i];
    if (forward.launches > 0) operations.push_back({kind, false, forward});
    if (backward.launches > 0) operations.push_back({kind, true, backward});
  }
  std::ranges::sort(operations, std::greater(), [](const auto& row) { return row.totals.seconds; });
  return operations;
}

}  // namespace

TrainingLoop::TrainingLoop(Executor& executor, TrainingObserver* observer,
                           const TrainOptions& options, Save save, std::int64_t epochs_before)
    : executor_(executor),
      observer_(observer),
      options_(options),
      save_(std::move(save)),
      epochs_before_(epochs_before),
      best_(executor.planned().config.training.best_by) {}

TrainingResult TrainingLoop::Run() {
  executor_.Open(DatasetPart::kTrain);
  if (schedule().test_samples > 0) executor_.Open(DatasetPart::kTest);
  if (schedule().validation_samples > 0) executor_.Open(DatasetPart::kValidation);
  executor_.SetRateScale(1);
  executor_.BeginSchedule();
  start_ = Clock::now();
  for (std::int64_t epoch = epochs_before_ + 1; !IsDone(); ++epoch) RunEpoch(epoch);
  Finish();
  return std::move(result_);
}

void TrainingLoop::RunEpoch(std::int64_t epoch) {
  const EpochSchedule& schedule = executor_.planned().schedule;
  const Clock::time_point epoch_start = Clock::now();
  const std::vector<std::int64_t> order =
      EpochOrder(schedule.train_samples, executor_.planned().seed(), epoch, config().data.shuffle);
  const LastBatch last = schedule.drop_last ? LastBatch::kDrop : LastBatch::kKeepSmaller;
  const std::size_t first_loss = result_.losses.size();
  for (std::int64_t i = 0; i < schedule.steps_per_epoch && !IsDone(); ++i) {
    const BatchRange range = BatchAt(schedule.train_samples, schedule.batch, last, i);
    RunStep(std::span(order).subspan(static_cast<std::size_t>(range.begin),
                                     static_cast<std::size_t>(range.count)),
            epoch);
  }
  EpochResult result;
  result.epoch = epoch;
  const auto begin = result_.losses.begin() + static_cast<std::ptrdiff_t>(first_loss);
  result.mean_loss = std::accumulate(begin, result_.losses.end(), 0.0) /
                     static_cast<double>(result_.losses.end() - begin);
  if (!diverged_) executor_.RequireFiniteWeights();
  EvaluateInto(result);
  result.seconds = SecondsSince(epoch_start);
  result_.epochs.push_back(result);
  if (observer_ != nullptr) observer_->OnEpoch(result);
}

void TrainingLoop::RunStep(std::span<const std::int64_t> samples, std::int64_t epoch) {
  const Clock::time_point step_start = Clock::now();
  const bool measure = config().memory.track_memory_statistics && !result_.measured_timeline &&
                       (result_.steps == 1 || schedule().total_steps == 1);
  executor_.SetTimed(IsTimed());
  const StepResult step =
      measure ? RunMeasured(samples) : executor_.RunStep(StepKind::kTrain, {.numbers = samples});
  executor_.SetTimed(false);  // an evaluation's kernels are not a step's
  step_seconds_ += SecondsSince(step_start);
  samples_seen_ += static_cast<std::int64_t>(samples.size());
  ++result_.steps;
  result_.losses.push_back(step.loss);
  WarnIfDiverged(step.loss);
  if (config().training.clip_gradient_norm > 0) {
    result_.gradient_norms.push_back(step.gradient_norm);
  }
  if (result_.steps == 1 && schedule().total_steps > 1) StartProfile();
  if (result_.steps == 1) allocations_when_warm_ = executor_.system_allocations();
  Report(epoch, step);
  const auto every = config().training.evaluate_every;
  if (every && result_.steps % *every == 0 && schedule().evaluates()) EvaluateNow();
  Steer();
}

void TrainingLoop::WarnIfDiverged(double loss) {
  if (diverged_ || std::isfinite(loss)) return;
  diverged_ = true;
  LogWarning("the loss of step " + FormatCount(result_.steps) +
             " is not finite, and weights are lost that way; try a smaller optimizer.lr or "
             "training.clip_gradient_norm, and look for NaN in the data");
}

StepResult TrainingLoop::RunMeasured(std::span<const std::int64_t> samples) {
  RecordedStep recorded = executor_.RunRecorded(samples);
  result_.measured_timeline = std::move(recorded.timeline);
  result_.layers = std::move(recorded.layers);
  return recorded.step;
}

void TrainingLoop::EvaluateInto(EpochResult& epoch) {
  if (!schedule().evaluates()) return;
  const bool is_known =
      !result_.evaluations.empty() && result_.evaluations.back().step == result_.steps;
  if (!is_known) EvaluateNow();
  const EvaluationResult& evaluation = result_.evaluations.back().result;
  epoch.test_loss = evaluation.loss;
  epoch.test_accuracy = evaluation.accuracy;
  epoch.is_validation = watched_part() == DatasetPart::kValidation;
}

void TrainingLoop::EvaluateNow() {
  const DatasetPart part = watched_part();
  result_.evaluations.push_back(
      {.step = result_.steps, .result = executor_.Evaluate(part), .part = part});
  const Evaluation& evaluation = result_.evaluations.back();
  const bool is_best = best_.Take(evaluation);
  result_.best = best_.best();
  if (is_best && config().output.best_weights) save_(*config().output.best_weights);
  DropRateOnPlateau();
  const auto patience = config().training.patience;
  if (patience && best_.since() >= *patience) result_.stopped_early = true;
  if (observer_ != nullptr) observer_->OnEvaluation(evaluation);
}

void TrainingLoop::DropRateOnPlateau() {
  const ScheduleOptions& schedule = config().schedule;
  if (schedule.kind != ScheduleKind::kPlateau || schedule.function) return;
  worse_ = best_.since() == 0 ? 0 : worse_ + 1;
  if (worse_ < schedule.plateau_patience) return;
  worse_ = 0;
  rate_scale_ *= schedule.step_factor;
  executor_.SetRateScale(rate_scale_);
}

void TrainingLoop::Report(std::int64_t epoch, const StepResult& step) {
  if (observer_ == nullptr) return;
  const auto total = schedule().total_steps;
  const double per_step = SecondsSince(start_) / static_cast<double>(result_.steps);
  observer_->OnStep({.step = result_.steps,
                     .total_steps = total,
                     .epoch = epoch,
                     .loss = step.loss,
                     .samples_per_second = static_cast<double>(samples_seen_) / step_seconds_,
                     .seconds_left = per_step * static_cast<double>(total - result_.steps),
                     .learning_rate = executor_.planned().optimizer->RateAt(result_.steps - 1),
                     .gradient_norm = step.gradient_norm,
                     .live_bytes = executor_.live_bytes()});
}

// Does what the observer asks for.
void TrainingLoop::Steer() {
  if (observer_ == nullptr) return;
  observer_->Steer(control_);
  if (const auto scale = control_.TakeRateScale()) executor_.SetRateScale(rate_scale_ = *scale);
  for (const std::string& path : control_.TakePaths()) save_(path);
  result_.stopped_early = result_.stopped_early || control_.stops();
}

bool TrainingLoop::IsTimed() const {
  return options_.profile || config().memory.track_memory_statistics;
}

void TrainingLoop::StartProfile() {
  executor_.ClearKernelTimes();
  steps_before_profile_ = result_.steps;
  seconds_before_profile_ = step_seconds_;
}

// The test part is looked at once where evaluations had a validation part.
void TrainingLoop::TestInto(TrainingResult& result) {
  if (schedule().test_samples == 0) return;
  if (watched_part() == DatasetPart::kValidation) {
    result.test = executor_.Evaluate(DatasetPart::kTest);
    if (observer_ != nullptr) {
      observer_->OnEvaluation(
          {.step = result.steps, .result = *result.test, .part = DatasetPart::kTest});
    }
  } else {
    result.test = result.evaluations.back().result;
  }
  result.test_loss = result.test->loss;
  result.test_accuracy = result.test->accuracy;
}

void TrainingLoop::Finish() {
  result_.seconds = SecondsSince(start_);
  result_.samples_per_second = static_cast<double>(samples_seen_) / step_seconds_;
  TestInto(result_);
  result_.memory = executor_.Measured();
  result_.memory.allocations_after_warmup = executor_.system_allocations() - allocations_when_warm_;
  if (IsTimed()) {
    result_.profile = {
        .steps = result_.steps - steps_before_profile_,
        .seconds = step_seconds_ - seconds_before_profile_,
        .dtype = executor_.planned().backend->ProductType(executor_.planned().dtype()),
        .operations = OperationsOf(executor_.KernelTimes()),
        .limits = {}};
  }
  result_.pipeline = executor_.LastPipeline();
  result_.weights_hash = executor_.WeightsHash();
}

}  // namespace frugal

#include "builders/run/training_loop.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sdk/comm/launched_ranks.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"
#include "sdk/data/batches.h"
#include "sdk/data/shuffle.h"
#include "sdk/memory/system_memory.h"

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
                           const TrainOptions& options, Save save, TrainingProgress start,
                           const SnapshotStart& snapshots)
    : executor_(executor),
      observer_(observer),
      options_(options),
      save_(std::move(save)),
      at_(std::move(start)),
      best_(executor.planned().config.training.best_by),
      snapshots_(executor, snapshots) {
  best_.Resume(result_.best, at_.since_best);
  const auto patience = config().training.patience;  // which may be another one than before
  result_.stopped_early = patience && best_.since() >= *patience;
}

TrainingResult TrainingLoop::Run() {
  executor_.Open(DatasetPart::kTrain);
  if (schedule().test_samples > 0) executor_.Open(DatasetPart::kTest);
  if (schedule().validation_samples > 0) executor_.Open(DatasetPart::kValidation);
  executor_.SetRateScale(at_.rate_scale);
  if (result_.steps == 0) executor_.BeginSchedule();
  start_ = last_time_ = Clock::now();
  if (IsDone() && at_.steps_in_epoch > 0) EndEpoch();  // the last one was not whole
  while (!IsDone()) RunEpoch();
  snapshots_.Finish();
  Finish();
  return std::move(result_);
}

void TrainingLoop::RunEpoch() {
  const EpochSchedule& schedule = executor_.planned().schedule;
  const std::vector<std::int64_t> order = EpochOrder(
      schedule.train_samples, executor_.planned().seed(), at_.epoch, config().data.shuffle);
  const LastBatch last = schedule.drop_last ? LastBatch::kDrop : LastBatch::kKeepSmaller;
  while (at_.steps_in_epoch < schedule.steps_per_epoch && !IsDone()) {
    const BatchRange range =
        BatchAt(schedule.train_samples, schedule.batch, last, at_.steps_in_epoch);
    RunStep(std::span(order).subspan(static_cast<std::size_t>(range.begin),
                                     static_cast<std::size_t>(range.count)));
    if (at_.steps_in_epoch < schedule.steps_per_epoch) SaveBehind({.ends_training = IsDone()});
  }
  const bool is_whole = at_.steps_in_epoch == schedule.steps_per_epoch;
  // A signal leaves the epoch's evaluation to the training that goes on.
  if (interrupted_ && is_whole) SaveBehind({});
  EndEpoch();
  if (!is_whole || interrupted_) return;
  ++at_.epoch;
  at_.steps_in_epoch = 0;
  at_.epoch_seconds = 0;
  SaveBehind({.ends_epoch = true, .ends_training = IsDone()});
}

void TrainingLoop::SaveBehind(const SnapshotKeeper::Moment& moment) {
  snapshots_.Behind(Stand(), moment);
  if (stopped_) snapshots_.OnExit(Stand());
}

void TrainingLoop::EndEpoch() {
  EpochResult result;
  result.epoch = at_.epoch;
  const auto begin = result_.losses.end() - static_cast<std::ptrdiff_t>(at_.steps_in_epoch);
  result.mean_loss = std::accumulate(begin, result_.losses.end(), 0.0) /
                     static_cast<double>(result_.losses.end() - begin);
  if (!at_.diverged) executor_.RequireFiniteWeights();
  if (!interrupted_) EvaluateInto(result);
  result.seconds = Stand().epoch_seconds;
  result_.epochs.push_back(result);
  if (observer_ != nullptr) observer_->OnEpoch(result);
}

const TrainingProgress& TrainingLoop::Stand() {
  const Clock::time_point now = Clock::now();
  const double passed = std::chrono::duration<double>(now - last_time_).count();
  last_time_ = now;
  at_.seconds += passed;
  at_.epoch_seconds += passed;
  at_.since_best = best_.since();
  return at_;
}

void TrainingLoop::RunStep(std::span<const std::int64_t> samples) {
  const StepResult step = RunTimed(samples);
  at_.samples_seen += static_cast<std::int64_t>(samples.size());
  samples_here_ += static_cast<std::int64_t>(samples.size());
  ++result_.steps;
  ++at_.steps_in_epoch;
  ++steps_here_;
  result_.losses.push_back(step.loss);
  WarnIfDiverged(step.loss);
  if (config().training.clip_gradient_norm > 0) {
    result_.gradient_norms.push_back(step.gradient_norm);
  }
  if (steps_here_ == 1 && schedule().total_steps > 1) StartProfile();
  if (steps_here_ == 1) allocations_when_warm_ = executor_.system_allocations();
  RecordGrowth();
  Report(step);
  const auto every = config().training.evaluate_every;
  if (every && result_.steps % *every == 0 && schedule().evaluates()) EvaluateNow();
  Steer();
}

StepResult TrainingLoop::RunTimed(std::span<const std::int64_t> samples) {
  const Clock::time_point start = Clock::now();
  const bool measure = IsRecorded() && !result_.measured_timeline &&
                       (steps_here_ == 1 || schedule().total_steps == 1);
  executor_.SetTimed(IsTimed() || measure);
  StepResult step;
  try {
    step =
        measure ? RunMeasured(samples) : executor_.RunStep(StepKind::kTrain, {.numbers = samples});
  } catch (...) {
    SaveBeforeFailure();
    throw;
  }
  executor_.SetTimed(false);  // an evaluation's kernels are not a step's
  const double seconds = SecondsSince(start);
  step_seconds_ += seconds;
  at_.step_seconds += seconds;
  return step;
}

// Saves what the training was before the step that failed, where that can still be told. One
// process of several cannot save alone.
void TrainingLoop::SaveBeforeFailure() {
  if (Launched() != nullptr || !executor_.UndoStep()) return;
  try {
    snapshots_.OnExit(Stand());
    snapshots_.Finish();
  } catch (const std::exception& error) {  // the step's own error is what users are to see
    LogWarning(error.what());
  }
}

void TrainingLoop::WarnIfDiverged(double loss) {
  if (at_.diverged || std::isfinite(loss)) return;
  at_.diverged = true;
  LogWarning("the loss of step " + FormatCount(result_.steps) +
             " is not finite, and weights are lost that way; try a smaller optimizer.lr or "
             "training.clip_gradient_norm, and look for NaN in the data");
}

StepResult TrainingLoop::RunMeasured(std::span<const std::int64_t> samples) {
  RecordedStep recorded = executor_.RunRecorded({.numbers = samples});
  executor_.Keep(std::move(recorded.memory), std::ssize(samples));
  result_.measured_timeline = std::move(recorded.timeline);
  result_.layers = std::move(recorded.layers);
  return recorded.step;
}

// In a long training every second, fourth, ... step is kept, so that there are never many.
void TrainingLoop::RecordGrowth() {
  constexpr std::size_t kMost = 512;
  if (!config().output.memory_report || steps_here_ % growth_stride_ != 0) return;
  std::vector<MemoryAfterStep>& growth = result_.growth;
  growth.push_back({.step = result_.steps,
                    .live_bytes = executor_.live_bytes(),
                    .resident_bytes = ResidentBytes()});
  if (growth.size() < kMost) return;
  growth_stride_ *= 2;
  std::erase_if(growth,
                [&, i = std::size_t{0}](const MemoryAfterStep&) mutable { return i++ % 2 == 0; });
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
  at_.worse = best_.since() == 0 ? 0 : at_.worse + 1;
  if (at_.worse < schedule.plateau_patience) return;
  at_.worse = 0;
  at_.rate_scale *= schedule.step_factor;
  executor_.SetRateScale(at_.rate_scale);
}

void TrainingLoop::Report(const StepResult& step) {
  if (observer_ == nullptr) return;
  const auto total = schedule().total_steps;
  const double per_step = SecondsSince(start_) / static_cast<double>(steps_here_);
  observer_->OnStep({.step = result_.steps,
                     .total_steps = total,
                     .epoch = at_.epoch,
                     .loss = step.loss,
                     .samples_per_second = static_cast<double>(samples_here_) / step_seconds_,
                     .seconds_left = per_step * static_cast<double>(total - result_.steps),
                     .learning_rate = executor_.planned().optimizer->RateAt(result_.steps - 1),
                     .gradient_norm = step.gradient_norm,
                     .live_bytes = executor_.live_bytes()});
}

// Does what the observer asks for. Of several processes the first one decides about the end.
void TrainingLoop::Steer() {
  if (observer_ != nullptr) {
    observer_->Steer(control_);
    if (const auto scale = control_.TakeRateScale()) {
      executor_.SetRateScale(at_.rate_scale = *scale);
    }
    for (const std::string& path : control_.TakePaths()) save_(path);
  }
  const bool stops = control_.stops() && IsFirstProcess();
  const std::int64_t decided =
      executor_.SumOfProcesses((stops ? 1 : 0) + (control_.interrupts() ? 2 : 0));
  stopped_ = decided != 0;
  interrupted_ = decided > 1;
}

bool TrainingLoop::IsTimed() const {
  return options_.profile || config().memory.track_memory_statistics;
}

bool TrainingLoop::IsRecorded() const {
  return config().memory.track_memory_statistics || config().output.memory_report.has_value();
}

void TrainingLoop::StartProfile() {
  executor_.ClearKernelTimes();
  steps_before_profile_ = steps_here_;
  seconds_before_profile_ = step_seconds_;
}

// The test part is looked at once where evaluations had a validation part.
void TrainingLoop::TestInto(TrainingResult& result) {
  if (schedule().test_samples == 0 || interrupted_) return;
  const bool is_known = watched_part() == DatasetPart::kTest && !result.evaluations.empty() &&
                        result.evaluations.back().step == result.steps;
  if (!is_known) {
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
  result_.seconds = Stand().seconds;
  result_.stopped_early = result_.stopped_early || stopped_;
  result_.interrupted = interrupted_;
  result_.snapshots = snapshots_.cost();
  if (at_.step_seconds > 0) {
    result_.samples_per_second = static_cast<double>(at_.samples_seen) / at_.step_seconds;
  }
  TestInto(result_);
  result_.memory = executor_.Measured();
  if (steps_here_ > 0) {
    result_.memory.allocations_after_warmup =
        executor_.system_allocations() - allocations_when_warm_;
  }
  if (IsTimed()) {
    result_.profile = {
        .steps = steps_here_ - steps_before_profile_,
        .seconds = step_seconds_ - seconds_before_profile_,
        .dtype = executor_.planned().backend->ProductType(executor_.planned().dtype()),
        .operations = OperationsOf(executor_.KernelTimes()),
        .limits = {}};
  }
  result_.pipeline = executor_.LastPipeline();
  result_.weights_hash = executor_.WeightsHash();
}

}  // namespace frugal

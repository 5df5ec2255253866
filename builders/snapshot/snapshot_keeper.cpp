#include "builders/snapshot/snapshot_keeper.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "builders/config/text/training_text.h"
#include "builders/execute/evaluation_number.h"
#include "builders/setup/snapshot_staging.h"
#include "builders/snapshot/same_training.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"
#include "sdk/core/seconds_since.h"
#include "sdk/io/output_path.h"

namespace frugal {
namespace {

constexpr const char* kGoesOn =
    "; the training goes on, and the next snapshot is saved when it is due";

// Processor time of this thread so far.
double CoreSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[noreturn]] void RefuseOthers(const std::string& directory, const SnapshotEntry& last) {
  throw ConfigError(
      {.where = "snapshots.directory",
       .required = "a directory without snapshots, or a training that goes on from "
                   "one of them",
       .given = directory + " has " + last.path,
       .advice = "go on by --resume auto (Model::Resume), begin anew by --resume new, or name "
                 "another directory"});
}

// A snapshot that cannot be read is set aside; a whole one of a later step would be lost to a
// training that goes on from an earlier one.
void SetAsideDamaged(SnapshotStore& store, const SnapshotEntry& entry) {
  try {
    VerifySnapshot(entry.path, ReadManifest(entry.path));
  } catch (const SnapshotError&) {
    return store.SetAside(entry.step);
  }
  throw ConfigError({.where = "snapshots.directory",
                     .required = "a directory without snapshots of later steps than the one that "
                                 "the training goes on from",
                     .given = store.directory() + " has " + entry.path,
                     .advice = "name another directory for what branches off"});
}

bool IsIn(const std::string& snapshot, const std::string& directory) {
  std::error_code error;
  return std::filesystem::equivalent(DirectoryOf(snapshot), directory, error) && !error;
}

void Prepare(SnapshotStore& store, const SnapshotStart& start, std::int64_t step) {
  using Kind = SnapshotStart::Kind;
  const std::vector<SnapshotEntry> entries = store.List();
  if (entries.empty()) return;
  const bool is_of_another = !start.from.empty() && !IsIn(start.from, store.directory());
  if (start.kind == Kind::kFresh || (start.kind == Kind::kResumed && is_of_another)) {
    RefuseOthers(store.directory(), entries.back());
  }
  for (const SnapshotEntry& entry : entries) {
    if (start.kind == Kind::kReplacing) {
      store.Remove(entry.step);
    } else if (entry.step > step) {
      SetAsideDamaged(store, entry);
    }
  }
}

}  // namespace

bool BeginForAll(Executor& executor, const std::string& path) {
  bool begun = true;
  if (IsFirstProcess()) {
    try {
      BeginSnapshot(path);
    } catch (const Error& error) {
      LogWarning(std::string(error.what()) + kGoesOn);
      begun = false;
    }
  }
  return executor.FromFirstProcess(begun ? 1 : 0) != 0;
}

SnapshotContent ContentOf(Executor& executor, TrainingStand stand, bool held) {
  SnapshotContent content;
  stand.position = executor.position();
  for (const Parameter* parameter : executor.planned().parameters) {
    stand.parameters.push_back(parameter->path);
  }
  stand.train_samples = executor.planned().schedule.train_samples;
  stand.threads = ThreadsOf(executor.planned());
  stand.configuration = "# The configuration of a training, as it was resolved.\n" +
                        TrainingText(executor.planned().config);
  if (held) {
    content.busy_threads =
        stand.threads * std::max<std::int64_t>(1, std::ssize(executor.planned().devices));
  }
  content.stand = std::move(stand);
  content.state = held ? executor.HoldState() : executor.StateTensors();
  content.metadata = executor.planned().metadata;
  if (const LaunchedRanks* launched = Launched()) {
    content.rank = launched->ranks->rank();
    content.ranks = launched->ranks->size();
  }
  return content;
}

void RequireDirectoryFor(const SnapshotOptions& options, const SnapshotStart& start,
                         std::int64_t step) {
  if (!options.directory || !IsFirstProcess()) return;
  SnapshotStore store(*options.directory);
  if (start.kind != SnapshotStart::Kind::kReplacing) Prepare(store, start, step);
}

SnapshotKeeper::SnapshotKeeper(Executor& executor, const SnapshotStart& start)
    : executor_(executor), last_save_(Clock::now()) {
  if (!options().directory) return;
  larger_is_better_ =
      options().mode ? *options().mode == MonitorMode::kMax : LargerIsBetter(options().monitor);
  if (!IsFirstProcess()) return;
  store_ = std::make_unique<SnapshotStore>(*options().directory);
  const std::int64_t step = executor.position().step;
  Prepare(*store_, start, step);
  for (const SnapshotEntry& entry : store_->List()) {
    if (entry.step == step) last_step_ = step;
    try {
      const SnapshotManifest manifest = ReadManifest(entry.path);
      if (manifest.monitored) monitored_.push_back(*manifest.monitored);
    } catch (const SnapshotError& error) {
      if (told_.insert(entry.path).second) LogWarning(error.what());
    }
  }
}

SnapshotKeeper::~SnapshotKeeper() {
  if (writing_.valid()) writing_.wait();
}

std::optional<double> SnapshotKeeper::Monitored(const TrainingProgress& progress) const {
  const std::vector<Evaluation>& evaluations = progress.result.evaluations;
  if (evaluations.empty() || evaluations.back().step != progress.result.steps) return std::nullopt;
  return EvaluationNumber(evaluations.back().result, options().monitor, "snapshots.monitor");
}

// The first process knows those of before, and decides.
bool SnapshotKeeper::IsAmongBest(const TrainingProgress& progress) {
  if (options().keep_best == 0) return false;
  const std::optional<double> value = Monitored(progress);
  if (!value) return false;
  std::vector<double> others = monitored_;
  if (pending_) others.push_back(*pending_);
  const auto better = std::ranges::count_if(
      others, [&](double other) { return larger_is_better_ ? other >= *value : other <= *value; });
  const bool is_among = std::isfinite(*value) && better < options().keep_best;
  return executor_.FromFirstProcess(is_among ? 1 : 0) != 0;
}

bool SnapshotKeeper::IsDue(const TrainingProgress& progress, const Moment& moment) {
  const bool is_best = IsAmongBest(progress);  // of all processes, whatever else holds
  const auto every = options().every_n_steps;
  if (every && progress.result.steps % *every == 0) return true;
  if (!every && !options().every_minutes && moment.ends_epoch) return true;
  if (is_best || (moment.ends_training && options().on_exit)) return true;
  if (!options().every_minutes) return false;
  const bool late = SecondsSince(last_save_) >= 60 * *options().every_minutes;
  return executor_.FromFirstProcess(late ? 1 : 0) != 0;
}

void SnapshotKeeper::Behind(const TrainingProgress& progress, const Moment& moment) {
  if (!options().directory || !IsDue(progress, moment)) return;
  const bool busy =
      writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  const bool may_skip = options().when_busy == BusyPolicy::kSkip && !moment.ends_training;
  if (executor_.FromFirstProcess(may_skip && busy ? 1 : 0) != 0) {
    ++cost_.skipped;
    return;
  }
  Save(progress);
}

void SnapshotKeeper::OnExit(const TrainingProgress& progress) {
  if (options().directory && options().on_exit) Save(progress);
}

void SnapshotKeeper::Save(const TrainingProgress& progress) {
  const Clock::time_point start = Clock::now();
  Finish();
  const std::int64_t step = executor_.position().step;
  if (executor_.FromFirstProcess(step == last_step_ ? 1 : 0) != 0) return;
  const std::string path = SnapshotPath(*options().directory, step);
  if (!BeginForAll(executor_, path)) return;
  last_step_ = step;
  const bool is_beside = StagesSnapshots(executor_.planned().config);
  SnapshotContent content =
      ContentOf(executor_, {.epochs_run = progress.epochs_before, .progress = progress}, is_beside);
  content.monitor = options().monitor;
  content.monitored = pending_ = Monitored(progress);
  writing_ = std::async(std::launch::async, [this, path, content = std::move(content)] {
    return Write(path, content);
  });
  if (!is_beside) Finish();
  last_save_ = Clock::now();
  cost_.stall_seconds += SecondsSince(start);
}

// Runs beside the training, which touches the store and what was told only when it has waited.
SnapshotKeeper::Outcome SnapshotKeeper::Write(const std::string& path,
                                              const SnapshotContent& content) {
  const Clock::time_point begin = Clock::now();
  const double core_begin = CoreSeconds();
  Outcome outcome;
  try {
    outcome.bytes = WriteBegunSnapshot(path, content);
    outcome.saved = true;
  } catch (const std::exception& error) {
    LogWarning(std::string(error.what()) + kGoesOn);
  }
  try {
    if (outcome.saved && store_ != nullptr) RemoveSuperseded();
  } catch (const std::exception& error) {
    LogWarning(std::string(error.what()) + "; it is tried again with the next snapshot");
  }
  outcome.seconds = SecondsSince(begin);
  outcome.core_seconds = CoreSeconds() - core_begin;
  return outcome;
}

void SnapshotKeeper::RemoveSuperseded() {
  std::vector<SnapshotManifest> manifests;
  for (const SnapshotEntry& entry : store_->List()) {
    try {
      manifests.push_back(ReadManifest(entry.path));
      manifests.back().step = entry.step;  // of the directory's name, by which it is removed
    } catch (const SnapshotError& error) {
      if (told_.insert(entry.path).second) LogWarning(error.what());
    }
  }
  const Retention retention{.keep_last = options().keep_last,
                            .keep_best = options().keep_best,
                            .larger_is_better = larger_is_better_};
  for (const std::int64_t step : Superseded(manifests, retention)) store_->Remove(step);
}

void SnapshotKeeper::Finish() {
  if (!writing_.valid()) return;
  const Outcome outcome = writing_.get();
  cost_.write_seconds += outcome.seconds;
  cost_.core_seconds += outcome.core_seconds;
  cost_.bytes += outcome.bytes;
  cost_.saved += outcome.saved ? 1 : 0;
  if (outcome.saved && pending_) monitored_.push_back(*pending_);
  if (!outcome.saved) last_step_ = -1;
  pending_.reset();
}

}  // namespace frugal

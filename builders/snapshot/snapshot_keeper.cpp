#include "builders/snapshot/snapshot_keeper.h"

#include <algorithm>

#include "builders/config/text/training_text.h"
#include "builders/execute/evaluation_number.h"
#include "builders/snapshot/same_training.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

// A whole snapshot of a later step would be lost to a training that goes on from an earlier one.
void RemoveDamaged(SnapshotStore& store, const SnapshotEntry& entry) {
  try {
    VerifySnapshot(entry.path, ReadManifest(entry.path));
  } catch (const SnapshotError&) {
    return store.Remove(entry.step);
  }
  throw ConfigError({.where = "snapshots.directory",
                     .required = "a directory without snapshots of later steps than the one that "
                                 "the training goes on from",
                     .given = store.directory() + " has " + entry.path,
                     .advice = "name another directory for what branches off"});
}

}  // namespace

SnapshotContent ContentOf(Executor& executor, TrainingStand stand, bool staged) {
  SnapshotContent content;
  stand.position = executor.position();
  for (const Parameter* parameter : executor.planned().parameters) {
    stand.parameters.push_back(parameter->path);
  }
  stand.threads = ThreadsOf(executor.planned());
  stand.configuration = "# The configuration of a training, as it was resolved.\n" +
                        TrainingText(executor.planned().config);
  content.stand = std::move(stand);
  content.state = staged ? executor.StagedState() : executor.StateTensors();
  content.metadata = executor.planned().metadata;
  if (const LaunchedRanks* launched = Launched()) {
    content.rank = launched->ranks->rank();
    content.ranks = launched->ranks->size();
  }
  return content;
}

SnapshotKeeper::SnapshotKeeper(Executor& executor, SnapshotStart start)
    : executor_(executor), last_save_(Clock::now()) {
  if (!options().directory) return;
  larger_is_better_ =
      options().mode ? *options().mode == MonitorMode::kMax : LargerIsBetter(options().monitor);
  if (!IsFirstProcess()) return;
  store_ = std::make_unique<SnapshotStore>(*options().directory);
  const std::vector<SnapshotEntry> entries = store_->List();
  if (!entries.empty() && start == SnapshotStart::kFresh) {
    RefuseOthers(*options().directory, entries.back());
  }
  for (const SnapshotEntry& entry : entries) {
    if (start == SnapshotStart::kReplacing) {
      store_->Remove(entry.step);
      continue;
    }
    if (entry.step > executor.position().step) {
      RemoveDamaged(*store_, entry);
      continue;
    }
    if (entry.step == executor.position().step) last_step_ = entry.step;
    try {
      const SnapshotManifest manifest = ReadManifest(entry.path);
      if (manifest.monitored) monitored_.push_back(*manifest.monitored);
    } catch (const SnapshotError& error) {
      LogWarning(error.what());
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

bool SnapshotKeeper::IsAmongBest(const TrainingProgress& progress) const {
  if (options().keep_best == 0) return false;
  const std::optional<double> value = Monitored(progress);
  if (!value) return false;
  const auto better = std::ranges::count_if(monitored_, [&](double other) {
    return larger_is_better_ ? other >= *value : other <= *value;
  });
  return better < options().keep_best;
}

bool SnapshotKeeper::IsDue(const TrainingProgress& progress, const Moment& moment) {
  const auto every = options().every_n_steps;
  if (every && progress.result.steps % *every == 0) return true;
  if (!every && !options().every_minutes && moment.ends_epoch) return true;
  if (moment.ends_training && options().on_exit) return true;
  if (IsAmongBest(progress)) return true;
  const bool late =
      options().every_minutes && SecondsSince(last_save_) >= 60 * *options().every_minutes;
  return options().every_minutes && executor_.FromFirstProcess(late ? 1 : 0) != 0;
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
  last_step_ = step;
  SnapshotContent content =
      ContentOf(executor_, {.epochs_run = progress.epochs_before, .progress = progress},
                options().background);
  content.monitor = options().monitor;
  content.monitored = Monitored(progress);
  if (content.monitored) monitored_.push_back(*content.monitored);
  const std::string path = SnapshotPath(*options().directory, step);
  const auto write = [this, path, content = std::move(content)] {
    const Clock::time_point begin = Clock::now();
    Write(path, content);
    return SecondsSince(begin);
  };
  writing_ = std::async(std::launch::async, write);
  if (!options().background) Finish();
  last_save_ = Clock::now();
  cost_.stall_seconds += SecondsSince(start);
}

// Runs beside the training, which touches nothing of this until it has waited for it.
void SnapshotKeeper::Write(const std::string& path, const SnapshotContent& content) {
  try {
    cost_.bytes += WriteSnapshot(path, content);
    ++cost_.saved;
    if (store_ != nullptr) RemoveSuperseded();
  } catch (const Error& error) {
    last_step_ = -1;
    LogWarning(std::string(error.what()) +
               "; the training goes on, and the next snapshot is saved when it is due");
  }
}

void SnapshotKeeper::RemoveSuperseded() {
  std::vector<SnapshotManifest> manifests;
  for (const SnapshotEntry& entry : store_->List()) {
    try {
      manifests.push_back(ReadManifest(entry.path));
    } catch (const SnapshotError& error) {
      LogWarning(error.what());
    }
  }
  const Retention retention{.keep_last = options().keep_last,
                            .keep_best = options().keep_best,
                            .larger_is_better = larger_is_better_};
  for (const std::int64_t step : Superseded(manifests, retention)) store_->Remove(step);
}

void SnapshotKeeper::Finish() {
  if (writing_.valid()) cost_.write_seconds += writing_.get();
}

}  // namespace frugal

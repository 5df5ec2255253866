// This file holds what a model does with snapshots.
#include "builders/execute/executor.h"
#include "builders/plan/planner.h"
#include "builders/run/model.h"
#include "builders/snapshot/same_training.h"
#include "builders/snapshot/snapshot_keeper.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/error.h"
#include "sdk/io/snapshots/snapshot_store.h"

namespace frugal {

SnapshotStart Model::StartFor(const TrainOptions& options) const {
  using Kind = SnapshotStart::Kind;
  if (resumed_ || executor_->position().step > 0) {
    return {.kind = Kind::kResumed, .from = resumed_from_};
  }
  return {.kind = options.replaces_snapshots ? Kind::kReplacing : Kind::kFresh};
}

void Model::CheckSnapshots(const TrainOptions& options) const {
  RequireDirectoryFor(config().snapshots, StartFor(options), executor_->position().step);
}

void Model::SaveSnapshot(const std::string& path) {
  const OneThreadGuard::Scope use(*use_, "Model::SaveSnapshot");
  RequireTraining("Model::SaveSnapshot");
  RequireOwnWeights("Model::SaveSnapshot");
  if (Launched() == nullptr) {
    BeginSnapshot(path);
  } else if (!BeginForAll(*executor_, path)) {
    throw FileError({.where = path,
                     .required = "a snapshot can be begun",
                     .given = "it cannot, as the warning says",
                     .advice = "name a new directory that can be written"});
  }
  WriteBegunSnapshot(
      path, ContentOf(*executor_, {.epochs_run = epochs_run_, .progress = resumed_}, false));
}

void Model::Resume(const std::string& path) {
  const OneThreadGuard::Scope use(*use_, "Model::Resume");
  RequireTraining("Model::Resume");
  RequireOwnWeights("Model::Resume");
  Snapshot snapshot = OpenSnapshot(path);
  RequireSameTraining(snapshot, *planned_);
  executor_->LoadState(*snapshot.state);
  executor_->SetPosition(snapshot.stand.position);
  epochs_run_ = snapshot.stand.epochs_run;
  resumed_ = std::move(snapshot.stand.progress);
  resumed_from_ = path;
}

// Averages that stand in for the weights are not to be taken for these.
void Model::RequireOwnWeights(const char* where) const {
  if (!executor_->averaged()) return;
  throw UsageError({.where = where,
                    .required = "the weights are in their place",
                    .given = "an EmaScope has their averages there",
                    .advice = "end the scope first"});
}

Model Model::FromSnapshot(const std::string& path, const std::vector<std::string>& overrides) {
  const RunConfig config = ConfigurationOf(path, overrides);
  Model model(PlanTraining(WithoutWeightsFile(config)));
  model.Resume(path);
  return model;
}

}  // namespace frugal

#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builders/execute/executor.h"
#include "builders/snapshot/training_progress.h"
#include "builders/snapshot/write_snapshot.h"
#include "sdk/io/snapshots/snapshot_store.h"

namespace frugal {

// Begins a snapshot in the first process, and tells all whether it could be: a warning says why
// not.
bool BeginForAll(Executor& executor, const std::string& path);

// Returns all that a snapshot of the executor's state holds; where `held`, the tensors are read as
// they are now until the next call, whatever becomes of the state.
SnapshotContent ContentOf(Executor& executor, TrainingStand stand, bool held);

// Says what a training does about snapshots that its directory has already.
struct SnapshotStart {
  enum class Kind : std::uint8_t {
    kFresh,      // refuses them
    kReplacing,  // removes them
    kResumed     // goes on: from one of them, or behind steps of the same model
  };
  Kind kind = Kind::kFresh;
  std::string from{};  // the snapshot that it goes on from, where it does
};

// Makes the directory where it is missing, and throws where a training that starts so cannot have
// it: FileError where it cannot be made or another training has it, ConfigError where it holds
// snapshots that this one would mix with its own. Removes what was left unfinished in it.
void RequireDirectoryFor(const SnapshotOptions& options, const SnapshotStart& start,
                         std::int64_t step);

// Saves the snapshots of a training when they are due, and removes those that need not be kept. A
// snapshot that cannot be written is a warning, and the next one is tried when it is due. Where
// devices are processes, each has one of these, and the first process decides.
class SnapshotKeeper {
 public:
  // Throws as RequireDirectoryFor.
  SnapshotKeeper(Executor& executor, const SnapshotStart& start);
  ~SnapshotKeeper();
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;

  // Says where in its epoch a step was, and whether it was the last of all.
  struct Moment {
    bool ends_epoch = false;
    bool ends_training = false;
  };
  // Saves one behind a step where it is due.
  void Behind(const TrainingProgress& progress, const Moment& moment);
  // Saves one where on_exit says so: a signal or a step that failed ends the training.
  void OnExit(const TrainingProgress& progress);
  // Waits for the one that is being written.
  void Finish();
  const SnapshotCost& cost() const { return cost_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Tells how a snapshot was written; made by the thread that writes.
  struct Outcome {
    bool saved = false;
    double seconds = 0;
    std::int64_t bytes = 0;
  };

  bool IsDue(const TrainingProgress& progress, const Moment& moment);
  bool IsAmongBest(const TrainingProgress& progress);
  std::optional<double> Monitored(const TrainingProgress& progress) const;
  void Save(const TrainingProgress& progress);
  Outcome Write(const std::string& path, const SnapshotContent& content);
  void RemoveSuperseded();
  const SnapshotOptions& options() const { return executor_.planned().config.snapshots; }

  Executor& executor_;
  std::unique_ptr<SnapshotStore> store_;  // in the first process
  std::vector<double> monitored_;         // of those that were saved
  std::optional<double> pending_;         // of the one that is being written
  std::set<std::string> told_;            // snapshots that cannot be read, by their paths
  bool larger_is_better_ = false;
  Clock::time_point last_save_;
  std::int64_t last_step_ = -1;  // of the training's position, that was saved
  std::future<Outcome> writing_;
  SnapshotCost cost_;
};

}  // namespace frugal

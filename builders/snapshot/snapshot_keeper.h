#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builders/execute/executor.h"
#include "builders/snapshot/training_progress.h"
#include "builders/snapshot/write_snapshot.h"
#include "sdk/io/snapshots/snapshot_store.h"

namespace frugal {

// Returns all that a snapshot of the executor's state holds; where `staged`, the tensors are copies
// that stay as they are until the next call.
SnapshotContent ContentOf(Executor& executor, TrainingStand stand, bool staged);

// Says what a training does about snapshots that its directory has already.
enum class SnapshotStart : std::uint8_t {
  kFresh,      // refuses them
  kReplacing,  // removes them
  kResumed     // goes on from one of them
};

// Saves the snapshots of a training when they are due, and removes those that need not be kept. A
// snapshot that cannot be written is a warning, and the next one is tried when it is due. Where
// devices are processes, each has one of these, and the first process decides.
class SnapshotKeeper {
 public:
  // Throws FileError where the directory cannot be made or another training has it, and ConfigError
  // where it holds snapshots and the training does not go on from one of them.
  SnapshotKeeper(Executor& executor, SnapshotStart start);
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

  bool IsDue(const TrainingProgress& progress, const Moment& moment);
  bool IsAmongBest(const TrainingProgress& progress) const;
  std::optional<double> Monitored(const TrainingProgress& progress) const;
  void Save(const TrainingProgress& progress);
  void Write(const std::string& path, const SnapshotContent& content);
  void RemoveSuperseded();
  const SnapshotOptions& options() const { return executor_.planned().config.snapshots; }

  Executor& executor_;
  std::unique_ptr<SnapshotStore> store_;  // in the first process
  std::vector<double> monitored_;         // of all that were saved, in the order of steps
  bool larger_is_better_ = false;
  Clock::time_point last_save_;
  std::int64_t last_step_ = -1;  // of the training's position, that was saved
  std::future<double> writing_;  // how long it took
  SnapshotCost cost_;
};

}  // namespace frugal

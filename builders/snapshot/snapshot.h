#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builders/execute/state_tensors.h"
#include "builders/snapshot/training_progress.h"
#include "sdk/io/snapshots/snapshot_manifest.h"

namespace frugal {

// All that a snapshot holds beside the state's tensors.
struct TrainingStand {
  TrainingPosition position{};
  std::int64_t epochs_run = 0;                 // by trainings that ended
  std::int64_t train_samples = 0;              // of an epoch
  std::int64_t threads = 0;                    // of kernels; others may sum in another order
  std::optional<TrainingProgress> progress{};  // of the one that has begun, where one has
  std::vector<std::string> parameters{};       // their paths, in the network's order
  std::string configuration{};                 // TOML: TrainingText
};

// A snapshot in its directory:
//
//   manifest.json         its step, and the files with their sizes and hashes
//   configuration.toml    of the training, resolved
//   progress.json         where it stands
//   curves.safetensors    "losses" and "gradient_norms" of its steps, F64
//   rank-K.safetensors    the tensors of the state that process K had (state_tensors.h), with the
//                         metadata of weight files
//
// Which process has which tensor makes no difference to who reads it.
struct Snapshot {
  std::string path;
  SnapshotManifest manifest;
  TrainingStand stand;
  std::shared_ptr<const StateFiles> state;
};

// Opens a snapshot. Reads all of it, to hold it against its hashes. Throws SnapshotError, naming
// the file and what is wrong with it, where it is missing, damaged or none of ours.
Snapshot OpenSnapshot(const std::string& path);

// The texts of two of its files, as OpenSnapshot reads them.
std::string StandText(const TrainingStand& stand);

}  // namespace frugal

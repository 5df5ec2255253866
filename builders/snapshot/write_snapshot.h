#pragma once

#include <string>
#include <vector>

#include "builders/snapshot/snapshot.h"
#include "sdk/io/weights/stored_tensor.h"

namespace frugal {

// Holds what one process gives to a snapshot, as values of its own but for the tensors' bytes;
// those that are not held must not change until it is written.
struct SnapshotContent {
  TrainingStand stand;
  std::vector<StateTensor> state;
  WeightMetadata metadata{};
  std::string monitor{};  // and its value, where the step was evaluated
  std::optional<double> monitored{};
  int rank = 0;  // of this process
  int ranks = 1;
  std::int64_t busy_threads = 0;  // that train meanwhile
};

// Writes a snapshot to `path` that BeginSnapshot began there. With several ranks all of them call
// this with one path, in a directory that they share, when the first one has begun it; the first
// one puts it in place when the others' files are there, and the others return when theirs are.
// Returns the bytes that this rank wrote. Throws FileError where something cannot be written, by
// this rank or another; then nothing is left of it.
std::int64_t WriteBegunSnapshot(const std::string& path, const SnapshotContent& content);

// Begins it too, for one rank alone.
std::int64_t WriteSnapshot(const std::string& path, const SnapshotContent& content);

}  // namespace frugal

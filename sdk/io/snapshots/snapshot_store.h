#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sdk/io/snapshots/snapshot_manifest.h"

namespace frugal {

// A snapshot in a directory of them: DIRECTORY/step-000000000120.
struct SnapshotEntry {
  std::string path;
  std::int64_t step = 0;
};

// Lists the snapshots of a directory by their steps, the first one first; none where there is no
// directory. They have manifests; whether they are whole is told by VerifySnapshot.
std::vector<SnapshotEntry> ListSnapshots(const std::string& directory);

// A snapshot becomes one in a single step: its files are written and synced in PATH.partial, the
// manifest last; then that is renamed to PATH, and the directory around it synced. So a crash
// leaves either all of it or none. These throw FileError where a call of the system fails, naming
// the path.

// Makes an empty PATH.partial, in place of one that was left there, and returns its path. Throws
// FileError where there is something at PATH already.
std::string BeginSnapshot(const std::string& path);
// Writes the manifest, and makes the partial directory the snapshot.
void CommitSnapshot(const std::string& path, const SnapshotManifest& manifest);
// Removes what was begun; says nothing where that fails.
void AbandonSnapshot(const std::string& path) noexcept;
std::string PartialPath(const std::string& path);

// The snapshots of one training, in a directory that it has for itself while this lives. One that
// is given up is renamed to step-N.removed before its files are removed.
class SnapshotStore {
 public:
  // Makes the directory where it is missing, and removes what was left unfinished in it. Throws
  // FileError where another process has it.
  explicit SnapshotStore(std::string directory);
  ~SnapshotStore();
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  const std::string& directory() const { return directory_; }
  std::vector<SnapshotEntry> List() const { return ListSnapshots(directory_); }
  // Throws FileError.
  void Remove(std::int64_t step);
  // Renames one that cannot be read to step-N.damaged, in place of an earlier one of that name.
  void SetAside(std::int64_t step);

 private:
  std::string directory_;
  int lock_ = -1;  // of the directory, by flock
};

// Returns the place of this step's snapshot in a directory of them.
std::string SnapshotPath(const std::string& directory, std::int64_t step);

// Says which snapshots to keep: the last ones, and the best ones by what was monitored.
struct Retention {
  std::int64_t keep_last = 1;
  std::int64_t keep_best = 0;
  bool larger_is_better = false;
};

// Returns the steps of those that need not be kept, of manifests in the order of their steps. The
// last one is always kept.
std::vector<std::int64_t> Superseded(std::span<const SnapshotManifest> manifests,
                                     const Retention& retention);

}  // namespace frugal

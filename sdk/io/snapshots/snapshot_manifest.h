#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/io/snapshots/snapshot_error.h"

namespace frugal {

struct SnapshotFile {
  std::string name;  // in the snapshot's directory
  std::int64_t bytes = 0;
  std::string hash;  // XXH3-64 of all bytes, as 16 hexadecimal digits
};

// Says what a snapshot is made of. It is written last: a directory without it is no snapshot.
struct SnapshotManifest {
  std::string version{};  // of the library that wrote it
  std::int64_t step = 0;  // so many training steps are behind it
  // The number that tells how good it is, where its step was evaluated: snapshots.monitor.
  std::string monitor{};
  std::optional<double> monitored{};
  std::vector<SnapshotFile> files;
};

inline constexpr const char* kManifestName = "manifest.json";

std::string ManifestText(const SnapshotManifest& manifest);

// Reads the manifest of the snapshot in this directory. Throws SnapshotError, naming the file,
// where it is missing or is not as ManifestText makes it.
SnapshotManifest ReadManifest(const std::string& snapshot);

// Reads every file of the snapshot from beginning to end, and holds it against its size and hash.
// Throws SnapshotError naming the first file that is missing, of another size, or changed.
void VerifySnapshot(const std::string& snapshot, const SnapshotManifest& manifest);

}  // namespace frugal

#pragma once

#include <optional>
#include <string>

namespace frugal {

// Returns the last snapshot of the directory that is whole; those behind it that are damaged are
// told in a warning each. Returns nothing where there is none.
std::optional<std::string> FindLastSnapshot(const std::string& directory);

// Returns the path itself, or where it is a directory of snapshots, the last one in it that is
// whole. Throws SnapshotError where there is none.
std::string SnapshotAt(const std::string& path);

// Returns the snapshot that a training is asked to go on from: "auto" is the last one, where there
// is any, "must" is the last one, and anything else the path of one, or of a directory of them.
// `directory` is snapshots.directory. Throws ConfigError for auto and must without a directory, and
// SnapshotError for must and a path where there is no snapshot.
std::optional<std::string> SnapshotToResume(const std::string& asked,
                                            const std::optional<std::string>& directory);

}  // namespace frugal

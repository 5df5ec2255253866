#include "builders/snapshot/find_snapshot.h"

#include <filesystem>

#include "builders/snapshot/snapshot.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"
#include "sdk/io/snapshots/snapshot_store.h"

namespace frugal {
namespace {

[[noreturn]] void RefuseNone(const std::string& directory, const std::string& advice) {
  throw SnapshotError({.where = directory,
                       .required = "a snapshot to go on from",
                       .given = "the directory has none that is whole",
                       .advice = advice});
}

}  // namespace

std::optional<std::string> FindLastSnapshot(const std::string& directory) {
  const std::vector<SnapshotEntry> entries = ListSnapshots(directory);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    try {
      OpenSnapshot(entry->path);
      return entry->path;
    } catch (const SnapshotError& error) {
      LogWarning(std::string(error.what()) + "; the one before it is taken");
    }
  }
  return std::nullopt;
}

std::optional<std::string> SnapshotToResume(const std::string& asked,
                                            const std::optional<std::string>& directory) {
  if (asked == "auto" || asked == "must") {
    if (!directory) {
      throw ConfigError({.where = "--resume " + asked,
                         .required = "a directory of snapshots to look in",
                         .given = "snapshots.directory is not set",
                         .advice = "set it, or name a snapshot: --resume PATH"});
    }
    auto found = FindLastSnapshot(*directory);
    if (found || asked == "auto") return found;
    RefuseNone(*directory, "begin without --resume, or with --resume auto");
  }
  return SnapshotAt(asked);
}

std::string SnapshotAt(const std::string& path) {
  std::error_code error;
  const bool is_snapshot = std::filesystem::exists(path + "/" + kManifestName, error);
  if (!is_snapshot && !ListSnapshots(path).empty()) {
    if (auto found = FindLastSnapshot(path)) return *found;
    RefuseNone(path, "name another directory");
  }
  ReadManifest(path);  // throws where it is none
  return path;
}

}  // namespace frugal

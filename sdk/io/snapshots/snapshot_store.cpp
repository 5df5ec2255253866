#include "sdk/io/snapshots/snapshot_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>

#include "sdk/io/atomic_file.h"
#include "sdk/io/file_error.h"
#include "sdk/io/file_system.h"
#include "sdk/io/output_path.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kPartial = ".partial";
constexpr std::string_view kRemoved = ".removed";
constexpr std::string_view kDamaged = ".damaged";

std::string NameOf(std::int64_t step) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%012lld", static_cast<long long>(step));
  return std::string(kPrefix) + digits;
}

// The step of a name "step-...", without anything behind its digits.
std::optional<std::int64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

bool IsLeftover(std::string_view name) {
  for (const std::string_view ending : {kPartial, kRemoved}) {
    if (name.ends_with(ending) && StepOf(name.substr(0, name.size() - ending.size()))) return true;
  }
  return false;
}

void Check(std::error_code error, const std::string& path, const char* what) {
  if (!error) return;
  RefuseFile(path, what, error.message(), "check the disk, its space and the permissions");
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// Removes a directory of files.
void RemoveTree(const std::string& path) {
  FileSystem& files = CurrentFileSystem();
  for (const std::string& name : NamesIn(path)) {
    const std::string inside = (fs::path(path) / name).string();
    Check(files.Remove(inside), inside, "a file of a snapshot that is given up can be removed");
  }
  Check(files.Remove(path), path, "a snapshot that is given up can be removed");
}

int Lock(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (errno != EWOULDBLOCK) return descriptor;  // a file system without locks
  ::close(descriptor);
  RefuseFile(directory, "the directory of snapshots is this training's alone",
             "another training uses it", "name another directory in snapshots.directory");
}

}  // namespace

std::vector<SnapshotEntry> ListSnapshots(const std::string& directory) {
  std::vector<SnapshotEntry> entries;
  for (const std::string& name : NamesIn(directory)) {
    const std::optional<std::int64_t> step = StepOf(name);
    const std::string path = (fs::path(directory) / name).string();
    std::error_code error;
    if (step && fs::exists(path + "/" + kManifestName, error)) entries.push_back({path, *step});
  }
  std::ranges::sort(entries, {}, &SnapshotEntry::step);
  return entries;
}

std::string SnapshotPath(const std::string& directory, std::int64_t step) {
  return directory + "/" + NameOf(step);
}

std::string PartialPath(const std::string& path) { return path + std::string(kPartial); }

std::string BeginSnapshot(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || fs::exists(fs::symlink_status(path, ignored))) {
    RefuseFile(path.empty() ? "snapshot" : path, "a snapshot is a new directory",
               path.empty() ? "its name is empty" : "there is something of that name already",
               "name another path, or remove what is there");
  }
  std::string partial = PartialPath(path);
  if (fs::exists(partial, ignored)) RemoveTree(partial);
  Check(MakeDirectories(CurrentFileSystem(), partial), partial,
        "a snapshot's directory can be made");
  return partial;
}

void CommitSnapshot(const std::string& path, const SnapshotManifest& manifest) {
  FileSystem& files = CurrentFileSystem();
  const std::string partial = PartialPath(path);
  AtomicFile file(partial + "/" + kManifestName);
  file.Append(ManifestText(manifest));
  file.Commit();
  const std::string around = DirectoryOf(path).string();
  Check(files.Rename(partial, path), path, "a snapshot can be put in place");
  Check(SyncNames(files, around), around, "the names of snapshots can be synced");
}

void AbandonSnapshot(const std::string& path) noexcept {
  try {
    const std::string partial = PartialPath(path);
    std::error_code ignored;
    if (fs::exists(partial, ignored)) RemoveTree(partial);
  } catch (...) {  // the next store in that directory does it
  }
}

SnapshotStore::SnapshotStore(std::string directory) : directory_(std::move(directory)) {
  if (directory_.empty()) {
    RefuseFile("snapshots", "a directory for snapshots", "its name is empty", "name one");
  }
  Check(MakeDirectories(CurrentFileSystem(), directory_), directory_,
        "the directory of snapshots is there or can be made");
  lock_ = Lock(directory_);
  for (const std::string& name : NamesIn(directory_)) {
    if (IsLeftover(name)) RemoveTree(directory_ + "/" + name);
  }
}

SnapshotStore::~SnapshotStore() {
  if (lock_ >= 0) ::close(lock_);
}

void SnapshotStore::Remove(std::int64_t step) {
  FileSystem& files = CurrentFileSystem();
  const std::string path = SnapshotPath(directory_, step);
  const std::string removed = path + std::string(kRemoved);
  std::error_code ignored;
  if (fs::exists(removed, ignored)) RemoveTree(removed);
  Check(files.Rename(path, removed), path, "a snapshot that is given up can be renamed");
  Check(SyncNames(files, directory_), directory_, "the names of snapshots can be synced");
  RemoveTree(removed);
}

void SnapshotStore::SetAside(std::int64_t step) {
  FileSystem& files = CurrentFileSystem();
  const std::string path = SnapshotPath(directory_, step);
  const std::string aside = path + std::string(kDamaged);
  std::error_code ignored;
  if (fs::exists(aside, ignored)) RemoveTree(aside);
  Check(files.Rename(path, aside), path, "a snapshot that cannot be read can be renamed");
  Check(SyncNames(files, directory_), directory_, "the names of snapshots can be synced");
}

std::vector<std::int64_t> Superseded(std::span<const SnapshotManifest> manifests,
                                     const Retention& retention) {
  std::set<std::int64_t> kept;
  const auto last = static_cast<std::size_t>(std::max<std::int64_t>(1, retention.keep_last));
  for (std::size_t i = manifests.size() - std::min(last, manifests.size()); i < manifests.size();
       ++i) {
    kept.insert(manifests[i].step);
  }
  std::vector<const SnapshotManifest*> best;
  for (const SnapshotManifest& manifest : manifests) {
    if (manifest.monitored) best.push_back(&manifest);
  }
  std::ranges::stable_sort(best, [&](const SnapshotManifest* a, const SnapshotManifest* b) {
    return retention.larger_is_better ? *a->monitored > *b->monitored
                                      : *a->monitored < *b->monitored;
  });
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(0, retention.keep_best));
  for (std::size_t i = 0; i < std::min(most, best.size()); ++i) kept.insert(best[i]->step);
  std::vector<std::int64_t> superseded;
  for (const SnapshotManifest& manifest : manifests) {
    if (!kept.contains(manifest.step)) superseded.push_back(manifest.step);
  }
  return superseded;
}

}  // namespace frugal

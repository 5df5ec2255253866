#include "tests/support/recording_file_system.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Kind = DiskCall::Kind;

std::string BytesOf(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string RangeText(std::int64_t offset, std::size_t count) {
  return " [" + std::to_string(offset) + ", " +
         std::to_string(offset + static_cast<std::int64_t>(count)) + ")";
}

}  // namespace

// Says where a path is: which directory of ours names it, and what it names now.
struct RecordingFileSystem::Place {
  bool is_ours = false;
  DiskName at = {};
  bool is_there = false;
  std::size_t node = 0;
  std::string text = {};  // from the root on
};

RecordingFileSystem::RecordingFileSystem(const fs::path& root, FileSystem& below)
    : root_(fs::canonical(root)), below_(below) {
  ReadTree(root_);
  now_ = recording_.before;
}

std::size_t RecordingFileSystem::ReadTree(const fs::path& path) {
  const std::size_t node = recording_.before.size();
  const bool is_directory = fs::is_directory(path);
  recording_.before.push_back({.is_directory = is_directory});
  paths_[node] = path.lexically_relative(root_).generic_string();
  if (!is_directory) recording_.before[node].bytes = BytesOf(path);
  if (!is_directory) return node;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::size_t below = ReadTree(entry.path());
    recording_.before[node].names[entry.path().filename().string()] = below;
  }
  return node;
}

RecordingFileSystem::Place RecordingFileSystem::PlaceOf(const std::string& path) const {
  const fs::path full = fs::weakly_canonical(fs::absolute(path));
  const fs::path inside = full.lexically_relative(root_);
  if (inside.empty() || *inside.begin() == "..") return {};
  Place place = {.is_ours = true, .is_there = true, .text = inside.generic_string()};
  if (inside == ".") return place;
  for (const fs::path& part : inside) {
    if (!place.is_there) throw std::logic_error(path + " was made past the file system");
    place.at = {place.node, part.string()};
    const auto& names = now_[place.node].names;
    const auto found = names.find(place.at.name);
    place.is_there = found != names.end();
    place.node = place.is_there ? found->second : 0;
  }
  return place;
}

void RecordingFileSystem::Link(const Place& place, bool is_directory) {
  const std::size_t node = now_.size();
  now_.push_back({.is_directory = is_directory});
  now_[place.at.directory].names[place.at.name] = node;
  paths_[node] = place.text;
  TakeDown({.kind = Kind::kLink,
            .node = node,
            .at = place.at,
            .makes_directory = is_directory,
            .text = (is_directory ? "make directory " : "make ") + place.text});
}

void RecordingFileSystem::Mark(const std::string& text) {
  const std::lock_guard lock(mutex_);
  TakeDown({.kind = Kind::kMark, .text = text});
}

Recording RecordingFileSystem::recording() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

int RecordingFileSystem::Open(const std::string& path, OpenMode mode, mode_t permissions,
                              std::error_code& error) {
  const std::lock_guard lock(mutex_);
  const int file = below_.Open(path, mode, permissions, error);
  const Place place = PlaceOf(path);
  if (file < 0 || !place.is_ours) return file;
  if (place.is_there && mode == OpenMode::kEmpty) {
    TakeDown({.kind = Kind::kTruncate, .node = place.node, .text = "empty " + place.text});
  }
  if (!place.is_there) Link(place, false);
  open_[file] = place.is_there ? place.node : now_.size() - 1;
  return file;
}

std::size_t RecordingFileSystem::WriteAt(int file, std::int64_t offset,
                                         std::span<const std::byte> bytes, std::error_code& error) {
  const std::lock_guard lock(mutex_);
  const std::size_t written = below_.WriteAt(file, offset, bytes, error);
  if (written == 0 || !open_.contains(file)) return written;
  const std::size_t node = open_.at(file);
  TakeDown({.kind = Kind::kWrite,
            .node = node,
            .offset = offset,
            .bytes = std::string(reinterpret_cast<const char*>(bytes.data()), written),
            .text = "write " + paths_[node] + RangeText(offset, written)});
  return written;
}

std::error_code RecordingFileSystem::Truncate(int file, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  const std::error_code error = below_.Truncate(file, size);
  if (error || !open_.contains(file)) return error;
  const std::size_t node = open_.at(file);
  TakeDown({.kind = Kind::kTruncate,
            .node = node,
            .offset = size,
            .text = "cut " + paths_[node] + " to " + std::to_string(size)});
  return error;
}

// A file that has its space has its length too.
std::error_code RecordingFileSystem::TakeSpace(int file, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  const std::error_code error = below_.TakeSpace(file, size);
  if (error || !open_.contains(file)) return error;
  const std::size_t node = open_.at(file);
  TakeDown({.kind = Kind::kTruncate,
            .node = node,
            .offset = size,
            .text = "take space for " + std::to_string(size) + " in " + paths_[node]});
  return error;
}

std::error_code RecordingFileSystem::Sync(int file) {
  const std::lock_guard lock(mutex_);
  const std::error_code error = below_.Sync(file);
  if (error || !open_.contains(file)) return error;
  const std::size_t node = open_.at(file);
  TakeDown({.kind = Kind::kSync, .node = node, .text = "sync " + paths_[node]});
  return error;
}

std::error_code RecordingFileSystem::Close(int file) {
  const std::lock_guard lock(mutex_);
  open_.erase(file);
  return below_.Close(file);
}

std::error_code RecordingFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const Place source = PlaceOf(from);
  const Place target = PlaceOf(to);
  const std::error_code error = below_.Rename(from, to);
  if (error || (!source.is_ours && !target.is_ours)) return error;
  if (!source.is_there || !target.is_ours) throw std::logic_error(from + " is moved over our edge");
  now_[source.at.directory].names.erase(source.at.name);
  now_[target.at.directory].names[target.at.name] = source.node;
  paths_[source.node] = target.text;
  TakeDown({.kind = Kind::kRename,
            .node = source.node,
            .at = source.at,
            .to = target.at,
            .text = "rename " + source.text + " to " + target.text});
  return error;
}

std::error_code RecordingFileSystem::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Place place = PlaceOf(path);
  const std::error_code error = below_.Remove(path);
  if (error || !place.is_ours) return error;
  now_[place.at.directory].names.erase(place.at.name);
  TakeDown(
      {.kind = Kind::kUnlink, .node = place.node, .at = place.at, .text = "remove " + place.text});
  return error;
}

std::error_code RecordingFileSystem::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::error_code error = below_.MakeDirectory(path);
  if (error) return error;
  if (const Place place = PlaceOf(path); place.is_ours) Link(place, true);
  return error;
}

std::error_code RecordingFileSystem::SyncDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::error_code error = below_.SyncDirectory(path);
  const Place place = PlaceOf(path);
  if (error || !place.is_ours) return error;
  TakeDown({.kind = Kind::kSyncDirectory, .node = place.node, .text = "sync names " + place.text});
  return error;
}

}  // namespace frugal::testing

#include "sdk/io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sdk/io/weight_error.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

// Renaming over a device or a directory would destroy it, or fail only after all the work.
std::string CheckedTarget(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  if (fs::is_symlink(target, error)) target = fs::weakly_canonical(target, error);
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    RefuseWeights(path, "weights are written to a regular file",
                  fs::is_directory(target, error) ? "this is a directory" : "this is a device",
                  "name a file");
  }
  const fs::path directory = target.has_parent_path() ? target.parent_path() : ".";
  if (!target.has_filename() || !fs::is_directory(directory, error)) {
    RefuseWeights(path, "weights are written into a directory that exists",
                  "there is no directory '" + directory.string() + "'", "create it first");
  }
  return target.string();
}

// Makes the rename itself durable. Best effort: not every file system lets a directory be synced.
void SyncDirectory(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(CheckedTarget(path)) { OpenTemporary(); }

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::OpenTemporary() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = path_ + ".partial" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    if (errno != EEXIST) break;
  }
  Refuse("a new file must be allowed beside it");
}

void AtomicFile::Refuse(const char* what) const {
  RefuseWeights(path_, what, std::strerror(errno), "free space or choose another place");
}

void AtomicFile::WriteAt(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) Refuse("all of the weights must be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
    size_ = std::max(size_, offset);
  }
}

void AtomicFile::Commit() {
  if (::fsync(descriptor_) != 0) Refuse("all of the weights must reach the disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) Refuse("the file must be replaceable");
  ::close(descriptor_);
  descriptor_ = -1;
  SyncDirectory(path_);
}

}  // namespace frugal
